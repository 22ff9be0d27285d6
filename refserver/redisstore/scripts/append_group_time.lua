-- append_group_time is append_group for groups whose cursors are times. Times
-- never go back along a log: a message gets at least the time of the one before.
-- KEYS, ARGV and answer as append_group
local sender = ARGV[1]
local cursor = redis.call('ZSCORE', KEYS[2], sender)
if not cursor then
  if redis.call('EXISTS', KEYS[2]) == 0 then
    return 'no_such_group'
  end
  return 'not_member'
end
cursor = tonumber(cursor)
-- include sent
-- include time
if stored then
  if ARGV[5] == '1' then
    -- The attempt whose answer was lost had this very record, but for the time.
    local entry = redis.call('XRANGE', KEYS[1], '0-' .. stored, '0-' .. stored)[1]
    local record = entry and entry[2][2]
    if record and string.sub(record, 1, time_from(record) - 1) == string.sub(ARGV[3], 1, time_from(ARGV[3]) - 1) then
      return 2 * stored + (cursor >= time_of(record) and 1 or 0)
    end
  end
  return -stored
end
-- include mark
local record, before = ARGV[3], 0
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if newest then
  before = time_of(newest[2][2])
  if time_of(record) < before then
    record = string.sub(record, 1, time_from(record) - 1) .. string.sub(newest[2][2], time_from(newest[2][2]))
  end
end
local id = redis.call('XADD', KEYS[1], '0-*', 'r', record)
local seq = string.sub(id, 3)
if '@DEDUP@' == 'on' then
  redis.call('HSET', KEYS[3], field, seq)
end
-- The sender doesn't receive its own message: where it has everything before it,
-- as far as times tell, the send fills the gap.
if cursor >= before then
  redis.call('ZADD', KEYS[2], string.format('%.0f', time_of(record)), sender)
  return 2 * tonumber(seq) + 1
end
return 2 * tonumber(seq)
