-- rows tells what is stored for a user in each of some groups.
-- KEYS  1 rows
-- ARGV  groups
-- Answer: {lowest seq (0: nothing is stored), how many, for the next group, …}
local out = {}
for i, group in ipairs(ARGV) do
  local from, to = '[' .. group .. ' ', '(' .. group .. '!'
  local lowest = redis.call('ZRANGEBYLEX', KEYS[1], from, to, 'LIMIT', 0, 1)[1]
  out[2 * i - 1] = lowest and tonumber(string.sub(lowest, #group + 2, #group + 17)) or 0
  out[2 * i] = lowest and redis.call('ZLEXCOUNT', KEYS[1], from, to) or 0
end
return out
