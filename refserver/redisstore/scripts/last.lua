-- last.lua is included by scripts; a function that is defined where it is needed
-- costs nothing where it isn't (see doc.go).
--
-- last is the seq of the newest message that was ever stored in a stream, also
-- when that one, or all, are gone: the stream itself remembers.
local function last(log)
  if redis.call('EXISTS', log) == 0 then
    return 0
  end
  local info = redis.call('XINFO', 'STREAM', log)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      return tonumber(string.sub(info[i + 1], 3))
    end
  end
  return 0
end
