-- cut.lua is included by trim and trim_time, after head.lua: it cuts what lies up
-- to acked, and what exceeds the retention limit.
local newest = head(KEYS[2])
local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)
if not oldest[1] then
  return {newest + 1, 0, 0}
end
local first = tonumber(string.sub(oldest[1][1], 3))
local cut = acked
local keep = tonumber(ARGV[1])
if keep > 0 then
  cut = math.max(cut, newest - keep)
end
cut = math.min(cut, newest - 1)
if cut < first then
  return {first, 0, 0}
end
local removed = redis.call('XTRIM', KEYS[2], 'MINID', string.format('0-%.0f', cut + 1))
return {cut + 1, removed, math.max(0, cut - math.max(acked, first - 1))}
