-- time.lua is included by the scripts of groups whose cursors are times.
--
-- time_from is where in a record its time begins: the last field, a varint in
-- whose bytes but the last the high bit is set, after a tag in which it isn't.
local function time_from(record)
  local at = #record
  while at > 1 and string.byte(record, at - 1) >= 128 do
    at = at - 1
  end
  return at
end
-- time_of is a record's time in Unix milliseconds.
local function time_of(record)
  local ms, unit = 0, 1
  for i = time_from(record), #record do
    ms = ms + string.byte(record, i) % 128 * unit
    unit = unit * 128
  end
  return ms
end
-- time_at is the time of a message; nothing when it isn't stored.
local function time_at(log, seq)
  local id = string.format('0-%.0f', seq)
  local entry = redis.call('XRANGE', log, id, id)[1]
  return entry and time_of(entry[2][2])
end
