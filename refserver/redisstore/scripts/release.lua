-- release counts ids off that were removed. A body goes with its last id, unless
-- its message is still being stored. A call must not be repeated: counts may be
-- too high, never too low.
-- KEYS  1 refs   2 storing   3 log
-- ARGV  1 generation of the counts before the ids were removed   2… seq, ids, seq, ids, …
-- Answer: {generation that is in force, bodies freed}; {-1, 0} when nothing is
-- done: another generation began meanwhile, or counting is under way, which may
-- or may not have seen these ids. The group has to be counted anew.
local generation = redis.call('HGET', KEYS[1], '@') or '0'
if generation ~= ARGV[1] or redis.call('HEXISTS', KEYS[1], '+') == 1 then
  return {-1, 0}
end
local freed = 0
for i = 2, #ARGV, 2 do
  local left = redis.call('HINCRBY', KEYS[1], ARGV[i], -tonumber(ARGV[i + 1]))
  if left <= 0 and redis.call('HEXISTS', KEYS[2], ARGV[i]) == 0 then
    redis.call('HDEL', KEYS[1], ARGV[i])
    freed = freed + redis.call('XDEL', KEYS[3], '0-' .. ARGV[i])
  end
end
return {tonumber(generation), freed}
