-- trim removes from a group's log what every member has acked, and what exceeds
-- the retention limit. The newest entry stays: it remembers the head.
-- KEYS  1 members   2 log
-- ARGV  1 most messages to keep (0: no limit)
-- Answer: {first, removed, truncated}; nothing when the group has no members
local slowest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not slowest[1] then
  return {}
end
-- include head
local acked = tonumber(slowest[2])
-- include cut
