-- head.lua is included by scripts; a function that is defined where it is needed
-- costs nothing where it isn't (see doc.go).
--
-- head is the seq of the newest message that was ever stored in a log. A group's
-- log always keeps its newest entry; an inbox can be empty, and then the stream
-- itself remembers (XINFO costs twice as much, so it comes second).
local function head(log)
  local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
  if newest[1] then
    return tonumber(string.sub(newest[1][1], 3))
  end
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
