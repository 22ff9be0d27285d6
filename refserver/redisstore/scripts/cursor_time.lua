-- cursor_time is cursor for groups whose cursors are times: it finds the seq
-- that a time stands for. What has the very time counts as acked (time-after), so
-- that ties are lost, or as not acked (time-from), so that they come again.
-- KEYS  1 members   2 log
-- ARGV  1 user
-- Answer: as cursor
local cursor = redis.call('ZSCORE', KEYS[1], ARGV[1])
if cursor then
  -- include head
  -- include time
  -- include position
  return position(KEYS[2], tonumber(cursor), '@CURSOR@' == 'time-after')
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -2
end
return -1
