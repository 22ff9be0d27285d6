-- finish ends the storing of a message whose rows are all there. Of ids it notes
-- how many there are; those that went meanwhile are counted off already. A body
-- that nobody needs goes. It does nothing the second time.
-- KEYS  1 storing   2 refs   3 log
-- ARGV  1 generation of the counts   2 seq   3 rows
-- Answer: {generation that is in force, bodies freed}; with another generation nothing is done
if '@GROUP@' ~= 'ids' then
  redis.call('HDEL', KEYS[1], ARGV[2])
  return {0, 0}
end
local generation = redis.call('HGET', KEYS[2], '@') or '0'
if generation ~= ARGV[1] or redis.call('HDEL', KEYS[1], ARGV[2]) == 0 then
  return {tonumber(generation), 0}
end
if redis.call('HINCRBY', KEYS[2], ARGV[2], ARGV[3]) > 0 then
  return {tonumber(generation), 0}
end
redis.call('HDEL', KEYS[2], ARGV[2])
return {tonumber(generation), redis.call('XDEL', KEYS[3], '0-' .. ARGV[2])}
