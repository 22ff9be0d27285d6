-- unfinished reads what has to be finished of a group. Of ids it begins a
-- generation of counts when there is anything to count: what was removed before
-- is not counted off any more.
-- Field '+' is there from now on until the last part of the recount.
-- KEYS  1 storing   2 refs
-- Answer: {generation, {seq, 'EPOCH' or 'EPOCH RECORD', …}, {seqs with a count}}
local being = redis.call('HGETALL', KEYS[1])
if '@GROUP@' ~= 'ids' then
  return {0, being, {}}
end
local counted = {}
for _, seq in ipairs(redis.call('HKEYS', KEYS[2])) do
  if seq ~= '@' and seq ~= '+' then
    counted[#counted + 1] = seq
  end
end
if #being == 0 and #counted == 0 then
  redis.call('HDEL', KEYS[2], '+')
  return {tonumber(redis.call('HGET', KEYS[2], '@') or '0'), being, counted}
end
redis.call('HSET', KEYS[2], '+', '1')
return {redis.call('HINCRBY', KEYS[2], '@', 1), being, counted}
