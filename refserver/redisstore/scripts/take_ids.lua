-- take_ids removes some ids of a user.
-- KEYS  1 rows
-- ARGV  1 group   2… seqs
-- Answer: the seqs of those that were there
local taken = {}
for i = 2, #ARGV do
  if redis.call('ZREM', KEYS[1], ARGV[1] .. ' ' .. string.format('%016.0f', tonumber(ARGV[i]))) == 1 then
    taken[#taken + 1] = tonumber(ARGV[i])
  end
end
return taken
