-- append_group stores one message of a group.
-- KEYS  1 log   2 members   3 sent, current bucket   4 meta   [5 sent, previous bucket]
-- ARGV  1 sender   2 client_msg_id   3 record   4 lifetime of a bucket, ms (0: for ever)
--       5 '1' when an earlier attempt may have run
-- Answer: 2 * seq (+ 1 when the sender's cursor moved onto it); -seq when it was
-- stored before; not_member; no_such_group
local sender = ARGV[1]
local cursor = redis.call('ZSCORE', KEYS[2], sender)
if not cursor then
  if redis.call('EXISTS', KEYS[2]) == 0 then
    return 'no_such_group'
  end
  return 'not_member'
end
-- include store
-- The sender doesn't receive its own message: where the cursor stands right
-- before it, the send fills the gap.
if cursor + 1 == seq then
  redis.call('ZADD', KEYS[2], seq, sender)
  return 2 * seq + 1
end
return 2 * seq
