-- bodies returns the messages of some seqs, those that are still stored. Where
-- the seqs lie close together one range is cheaper than one look-up each.
-- KEYS  1 log
-- ARGV  seqs, in order
-- Answer: {seq, record, seq, record, …}
local out = {}
if tonumber(ARGV[#ARGV]) - tonumber(ARGV[1]) < 2 * #ARGV then
  local wanted = {}
  for _, seq in ipairs(ARGV) do
    wanted['0-' .. seq] = true
  end
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '0-' .. ARGV[1], '0-' .. ARGV[#ARGV])) do
    if wanted[entry[1]] then
      out[#out + 1] = tonumber(string.sub(entry[1], 3))
      out[#out + 1] = entry[2][2]
    end
  end
  return out
end
for _, seq in ipairs(ARGV) do
  local entry = redis.call('XRANGE', KEYS[1], '0-' .. seq, '0-' .. seq)[1]
  if entry then
    out[#out + 1] = tonumber(seq)
    out[#out + 1] = entry[2][2]
  end
end
return out
