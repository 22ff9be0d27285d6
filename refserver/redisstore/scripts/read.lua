-- read returns stored messages, oldest first.
-- KEYS  1 log
-- ARGV  1 the seq after which to begin   2 most messages
-- Answer: {seq, record, seq, record, …}
local out = {}
for i, entry in ipairs(redis.call('XRANGE', KEYS[1], '(0-' .. ARGV[1], '+', 'COUNT', ARGV[2])) do
  out[2 * i - 1] = tonumber(string.sub(entry[1], 3))
  out[2 * i] = entry[2][2]
end
return out
