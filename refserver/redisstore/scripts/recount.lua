-- recount ends the storing of messages and notes how many ids of each are left,
-- as they were just read. What is removed between that reading and here is not
-- counted off: the first part of a recount begins another generation, so counts
-- may be too high, never too low.
-- KEYS  1 storing   2 refs   3 log
-- ARGV  1 generation   2 '1' for the first part   3 '1' for the last one   4… seq, ids, seq, ids, …
-- Answer: {generation that is in force, bodies freed}; with another generation nothing is done
if '@GROUP@' ~= 'ids' then
  for i = 4, #ARGV, 2 do
    redis.call('HDEL', KEYS[1], ARGV[i])
  end
  return {0, 0}
end
local generation = redis.call('HGET', KEYS[2], '@') or '0'
if generation ~= ARGV[1] then
  return {tonumber(generation), 0}
end
if ARGV[2] == '1' then
  generation = redis.call('HINCRBY', KEYS[2], '@', 1)
end
if ARGV[3] == '1' then
  redis.call('HDEL', KEYS[2], '+')
end
local freed = 0
for i = 4, #ARGV, 2 do
  redis.call('HDEL', KEYS[1], ARGV[i])
  if ARGV[i + 1] == '0' then
    redis.call('HDEL', KEYS[2], ARGV[i])
    freed = freed + redis.call('XDEL', KEYS[3], '0-' .. ARGV[i])
  else
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
end
return {tonumber(generation), freed}
