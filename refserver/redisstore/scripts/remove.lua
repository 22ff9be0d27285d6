-- remove takes acked messages out of an inbox: everything up to a seq, or exactly some.
-- KEYS  1 log   2 senders
-- ARGV  1 the seq up to which (0: none)   2… seqs
-- Answer: the seq of the oldest message that is left; 0 when none is
local up_to = tonumber(ARGV[1])
if '@SENDERS@' == 'on' then
  -- include row
  local rows = {}
  local function drop(least)
    if #rows > least then
      redis.call('ZREM', KEYS[2], unpack(rows))
      rows = {}
    end
  end
  local from, last = '-', '0-' .. string.format('%.0f', up_to)
  while up_to > 0 do
    local entries = redis.call('XRANGE', KEYS[1], from, last, 'COUNT', 500)
    for _, entry in ipairs(entries) do
      rows[#rows + 1] = row(entry)
    end
    drop(0)
    if #entries < 500 then
      break
    end
    from = '(' .. entries[500][1]
  end
  for i = 2, #ARGV do
    local id = '0-' .. ARGV[i]
    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
    if entry then
      rows[#rows + 1] = row(entry)
      drop(499)
    end
  end
  drop(0)
end
if up_to > 0 then
  redis.call('XTRIM', KEYS[1], 'MINID', string.format('0-%.0f', up_to + 1))
end
for i = 2, #ARGV, 1000 do
  local ids = {}
  for j = i, math.min(i + 999, #ARGV) do
    ids[#ids + 1] = '0-' .. ARGV[j]
  end
  redis.call('XDEL', KEYS[1], unpack(ids))
end
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
return oldest and tonumber(string.sub(oldest[1], 3)) or 0
