-- trim_time is trim for groups whose cursors are times. What has the time of the
-- slowest cursor stays: the member may still be waiting for it.
-- KEYS, ARGV and answer as trim
local slowest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not slowest[1] then
  return {}
end
-- include head
-- include time
-- include position
local acked = position(KEYS[2], tonumber(slowest[2]), false)
-- include cut
