-- head.lua is included by scripts, as last.lua is.
--
-- head is last for a log that keeps its newest entry, as a group's does (XINFO
-- costs twice as much, so it comes second).
-- include last
local function head(log)
  local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
  if newest[1] then
    return tonumber(string.sub(newest[1][1], 3))
  end
  return last(log)
end
