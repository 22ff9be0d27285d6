-- append_inbox stores one direct message.
-- KEYS  1 log   2 user   3 sent, current bucket   4 meta   5 friends   [6 sent, previous bucket]
-- ARGV  1 sender   2 client_msg_id   3 record   4 lifetime of a bucket, ms (0: for ever)
--       5 '1' when an earlier attempt may have run   6 '1' when only friends may send
-- Answer: 2 * seq; -seq when it was stored before; no_such_user; not_friend
local sender = ARGV[1]
local cursor -- an inbox has none
if redis.call('EXISTS', KEYS[2]) == 0 then
  return 'no_such_user'
end
if ARGV[6] == '1' and not redis.call('ZSCORE', KEYS[5], sender) then
  return 'not_friend'
end
-- include store
return 2 * seq
