-- move_time is move for groups whose cursors are times: the time of the message
-- that was acked last. One that is trimmed already moves nothing.
-- KEYS  1 members   2 log
-- ARGV  1 the largest seq below   2… seq, user, seq, user, …
-- Answer: how many cursors moved
-- include head
-- include time
local newest = head(KEYS[2])
local times, moves = {}, {}
for i = 2, #ARGV, 2 do
  local seq = math.min(tonumber(ARGV[i]), newest)
  if times[seq] == nil then
    times[seq] = time_at(KEYS[2], seq) or false
  end
  if times[seq] then
    moves[#moves + 1] = string.format('%.0f', times[seq])
    moves[#moves + 1] = ARGV[i + 1]
  end
end
local moved = 0
for i = 1, #moves, 1000 do -- unpack is limited by Lua's stack
  moved = moved + redis.call('ZADD', KEYS[1], 'XX', 'GT', 'CH', unpack(moves, i, math.min(i + 999, #moves)))
end
return moved
