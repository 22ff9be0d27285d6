-- append_rows hands out the seq of one message of a group whose members have
-- rows of their own; the rows follow, one script each. Until they are all there
-- the message is among those being stored.
-- KEYS  1 log (ids)   2 members   3 sent, current bucket   4 meta   5 storing
--       [6 sent, previous bucket]
-- ARGV  1 sender   2 client_msg_id   3 record   4 lifetime of a bucket, ms (0: for ever)
--       5 '1' when an earlier attempt may have run
-- Answer: {seq, messages of the group being stored, 1}; {-seq, …, 1 when it is
-- still being stored, else 0} when it was sent before; not_member; no_such_group
local sender = ARGV[1]
if not redis.call('ZSCORE', KEYS[2], sender) then
  if redis.call('EXISTS', KEYS[2]) == 0 then
    return 'no_such_group'
  end
  return 'not_member'
end
-- include sent
if stored then
  local being = redis.call('HGET', KEYS[5], stored)
  local waiting = redis.call('HLEN', KEYS[5])
  if being and ARGV[5] == '1' then
    -- The attempt whose answer was lost had this very record: it is answered now.
    local record
    if '@GROUP@' == 'ids' then
      local entry = redis.call('XRANGE', KEYS[1], '0-' .. stored, '0-' .. stored)[1]
      record = entry and entry[2][2]
    else
      record = string.sub(being, string.find(being, ' ', 1, true) + 1)
    end
    if record == ARGV[3] then
      return {tonumber(stored), waiting, 1}
    end
  end
  return {-tonumber(stored), waiting, being and 1 or 0}
end
if marked ~= '@MARK@' then
  -- include base_rows
  base_rows(KEYS[4])
  -- include bucket
end
local number = redis.call('HINCRBY', KEYS[4], 'seq', 1)
local seq = string.format('%.0f', number)
if '@GROUP@' == 'ids' then
  redis.call('XADD', KEYS[1], '0-' .. seq, 'r', ARGV[3])
  redis.call('HSET', KEYS[5], seq, '@EPOCH@')
else
  redis.call('HSET', KEYS[5], seq, '@EPOCH@ ' .. ARGV[3])
end
if '@DEDUP@' == 'on' then
  redis.call('HSET', KEYS[3], field, seq)
end
return {number, redis.call('HLEN', KEYS[5]), 1}
