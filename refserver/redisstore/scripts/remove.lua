-- remove takes acked messages out of an inbox: everything up to a seq, or exactly some.
-- KEYS  1 log
-- ARGV  1 the seq up to which (0: none)   2… seqs
-- Answer: how many messages were removed
local removed = 0
local up_to = tonumber(ARGV[1])
if up_to > 0 then
  removed = redis.call('XTRIM', KEYS[1], 'MINID', string.format('0-%.0f', up_to + 1))
end
for i = 2, #ARGV, 1000 do
  local ids = {}
  for j = i, math.min(i + 999, #ARGV) do
    ids[#ids + 1] = '0-' .. ARGV[j]
  end
  removed = removed + redis.call('XDEL', KEYS[1], unpack(ids))
end
return removed
