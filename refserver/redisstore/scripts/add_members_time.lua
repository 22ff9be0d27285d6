-- add_members_time is add_members for groups whose cursors are times.
-- KEYS  1 members   2 log
-- ARGV  users
-- Answer: how many were added
-- include time
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local now = newest and string.format('%.0f', time_of(newest[2][2])) or '0'
local added = 0
for i = 1, #ARGV, 500 do
  local pairs_of = {}
  for j = i, math.min(i + 499, #ARGV) do
    pairs_of[#pairs_of + 1] = now
    pairs_of[#pairs_of + 1] = ARGV[j]
  end
  added = added + redis.call('ZADD', KEYS[1], 'NX', unpack(pairs_of))
end
return added
