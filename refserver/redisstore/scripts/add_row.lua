-- add_row stores one row of a group for one user: a copy, or an id. Rows of a
-- group come in the order of its seqs, so the last one tells which were there
-- before, even if they are gone again: a row is written once, however often its
-- message is finished. A seq of a later epoch is a later one whatever its number.
-- KEYS  1 rows   2 fanned
-- ARGV  1 group   2 epoch that the message's seq belongs to   3 seq, 16 digits   [4 record, copies]
-- Answer: 1 when the row was written, 0 when it was there before
local last = redis.call('HGET', KEYS[2], ARGV[1])
if last then
  local epoch, seq = string.match(last, '^(%d+) (%d+)$')
  epoch = tonumber(epoch) - tonumber(ARGV[2])
  if epoch > 0 or epoch == 0 and tonumber(seq) >= tonumber(ARGV[3]) then
    return 0
  end
end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%s %.0f', ARGV[2], tonumber(ARGV[3])))
if '@GROUP@' == 'ids' then
  redis.call('ZADD', KEYS[1], 0, ARGV[1] .. ' ' .. ARGV[3])
else
  redis.call('ZADD', KEYS[1], 0, ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4])
end
return 1
