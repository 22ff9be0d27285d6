-- open reads the state of a conversation and notes its base in this epoch, and
-- the epoch before.
-- KEYS  1 log   2 meta   3 the key whose existence makes the conversation exist (members or user)
-- Answer: {base, former, head, first, size}; nothing when the conversation doesn't exist
if redis.call('EXISTS', KEYS[3]) == 0 then
  return {}
end
-- include last
-- include base
local newest = last(KEYS[1])
local first = newest + 1
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)
if oldest[1] then
  first = tonumber(string.sub(oldest[1][1], 3))
end
local began, former = base(KEYS[2], KEYS[1])
return {began, former, newest, first, redis.call('XLEN', KEYS[1])}
