-- read_inbox returns a part of an inbox, and removes exactly that part where
-- messages go as they are pulled.
-- KEYS  1 log   2 senders
-- ARGV  1 the seq after which the part begins   2 the seq up to which
--       3 most messages (0: all, and more bytes than ARGV[4] are refused)   4 most bytes
--       5 sender ('': everybody's)   6 '1' the newest ones of the part   7 '1' remove
-- Answer: {oldest seq that is left (0: none), 1 when the part holds others, seq, record, seq, record, …},
-- newest first if asked so; too_large
local log, limit, most = KEYS[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local by, newest = ARGV[5], ARGV[6] == '1'
local lo, hi = '(0-' .. ARGV[1], '0-' .. ARGV[2]
if by ~= '' then
  lo = '(' .. by .. ' ' .. string.format('%016.0f', tonumber(ARGV[1]))
  hi = '[' .. by .. ' ' .. string.format('%016.0f', tonumber(ARGV[2]))
end
-- chunk returns the next n entries and how far the index, or the log, has been read.
local function chunk(n)
  if by == '' then
    local entries
    if newest then
      entries = redis.call('XREVRANGE', log, hi, lo, 'COUNT', n)
    else
      entries = redis.call('XRANGE', log, lo, hi, 'COUNT', n)
    end
    return entries, #entries, #entries > 0 and entries[#entries][1]
  end
  local rows
  if newest then
    rows = redis.call('ZREVRANGEBYLEX', KEYS[2], hi, lo, 'LIMIT', 0, n)
  else
    rows = redis.call('ZRANGEBYLEX', KEYS[2], lo, hi, 'LIMIT', 0, n)
  end
  local entries = {}
  for i = 1, #rows do
    local id = '0-' .. string.format('%.0f', tonumber(string.sub(rows[i], -16)))
    entries[#entries + 1] = redis.call('XRANGE', log, id, id)[1]
  end
  return entries, #rows, rows[#rows]
end
local found, size, more = {}, 0, 0
while more == 0 do
  local want = limit > 0 and math.min(128, limit - #found + 1) or 128
  local entries, got, at = chunk(want)
  for _, entry in ipairs(entries) do
    size = size + #entry[2][2] + 16 -- a message's own bytes in a page
    if limit == 0 and size > most then
      return 'too_large'
    end
    if limit > 0 and (#found == limit or size > most and #found > 0) then
      more = 1
      break
    end
    found[#found + 1] = entry
  end
  if got < want then
    break
  end
  if newest then
    hi = '(' .. at
  else
    lo = '(' .. at
  end
end
local oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
if ARGV[7] == '1' and found[1] then
  if '@SENDERS@' == 'on' then
    -- include row
    for i = 1, #found, 500 do
      local rows = {}
      for j = i, math.min(i + 499, #found) do
        rows[#rows + 1] = row(found[j])
      end
      redis.call('ZREM', KEYS[2], unpack(rows))
    end
  end
  local first, last = found[1][1], found[#found][1]
  if newest then
    first, last = last, first
  end
  if by == '' and first == oldest[1] then -- all that there is up to last
    redis.call('XTRIM', log, 'MINID', string.format('0-%.0f', string.sub(last, 3) + 1))
  else
    for i = 1, #found, 1000 do
      local ids = {}
      for j = i, math.min(i + 999, #found) do
        ids[#ids + 1] = found[j][1]
      end
      redis.call('XDEL', log, unpack(ids))
    end
  end
  oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
end
local out = {oldest and tonumber(string.sub(oldest[1], 3)) or 0, more}
for i, entry in ipairs(found) do
  out[2 * i + 1] = tonumber(string.sub(entry[1], 3))
  out[2 * i + 2] = entry[2][2]
end
return out
