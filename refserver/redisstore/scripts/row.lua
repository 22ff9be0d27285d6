-- row.lua is included by scripts that take messages out of an inbox with an
-- index of senders.
--
-- row names an entry as the index does: 'SENDER SEQ', the seq in 16 digits. A
-- record begins with its sender: tag, length (below 128, so one byte), bytes.
local function row(entry)
  local record = entry[2][2]
  local sender = string.sub(record, 3, 2 + string.byte(record, 2))
  return sender .. ' ' .. string.format('%016.0f', tonumber(string.sub(entry[1], 3)))
end
