-- position.lua is included by scripts, after head.lua and time.lua.
--
-- position is the last seq of a log whose time lies before ms, or at it where at
-- is set. Times never go back along a log, and it has no holes, so halving finds it.
local function position(log, ms, at)
  local newest = head(log)
  local oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  if not oldest then
    return newest
  end
  local low, high, middle = tonumber(string.sub(oldest[1], 3)) - 1, newest, newest
  while low < high do -- the newest one first: most members have everything
    local time = time_at(log, middle)
    if time < ms or at and time == ms then
      low = middle
    else
      high = middle - 1
    end
    middle = math.ceil((low + high) / 2)
  end
  return low
end
