-- append_inbox stores one direct message.
-- KEYS  1 log   2 user   3 sent, current bucket   4 meta   5 friends
--       [6 senders, with an index of senders]   [sent, previous bucket]
-- ARGV  1 sender   2 client_msg_id   3 record   4 lifetime of a bucket, ms (0: for ever)
--       5 '1' when an earlier attempt may have run   6 '1' when only friends may send
--       7 '' to keep a row; 'live' to hand out the seq alone, the receiver is pushed to;
--         a seq: that push missed the receiver, so a row is kept now, under a seq of its own
-- Answer: 2 * seq (+ 1 when no row was left); the same, negative, when it was
-- stored before; no_such_user; not_friend
local sender = ARGV[1]
if redis.call('EXISTS', KEYS[2]) == 0 then
  return 'no_such_user'
end
if ARGV[6] == '1' and not redis.call('ZSCORE', KEYS[5], sender) then
  return 'not_friend'
end
-- include sent
-- A send that left no row is noted as 'SEQ DIGEST' of its record.
if stored then
  local seq, digest = string.match(stored, '^(%d+) ?(%x*)$')
  if digest == '' then
    if ARGV[5] == '1' then
      -- The attempt whose answer was lost had this very record: it is answered now.
      local entry = redis.call('XRANGE', KEYS[1], '0-' .. seq, '0-' .. seq)[1]
      if entry and entry[2][2] == ARGV[3] then
        return 2 * seq
      end
    end
    return -2 * seq
  end
  if ARGV[7] ~= seq then
    if ARGV[5] == '1' and digest == string.sub(redis.sha1hex(ARGV[3]), 1, 8) then
      return 2 * seq + 1
    end
    return -2 * seq - 1
  end
end
-- include mark
local id = redis.call('XADD', KEYS[1], '0-*', 'r', ARGV[3])
local seq = string.sub(id, 3)
local note, none = seq, 0
if ARGV[7] == 'live' then
  redis.call('XDEL', KEYS[1], id)
  note, none = seq .. ' ' .. string.sub(redis.sha1hex(ARGV[3]), 1, 8), 1
elseif '@SENDERS@' == 'on' then
  redis.call('ZADD', KEYS[6], 0, sender .. ' ' .. string.format('%016.0f', tonumber(seq)))
end
if '@DEDUP@' == 'on' then
  redis.call('HSET', KEYS[3], field, note)
end
return 2 * seq + none
