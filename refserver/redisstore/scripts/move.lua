-- move moves cursors of one group forward, never back (GT), never past the
-- head, and only members' (XX).
-- KEYS  1 members   2 log
-- ARGV  1 the largest seq below   2… seq, user, seq, user, …
-- Answer: how many cursors moved
-- include head
local newest = head(KEYS[2])
if tonumber(ARGV[1]) > newest then
  for i = 2, #ARGV, 2 do
    if tonumber(ARGV[i]) > newest then
      ARGV[i] = string.format('%.0f', newest)
    end
  end
end
local moved = 0
for i = 2, #ARGV, 1000 do -- unpack is limited by Lua's stack
  moved = moved + redis.call('ZADD', KEYS[1], 'XX', 'GT', 'CH', unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
return moved
