-- remove_rows removes a user's rows of a group up to a seq.
-- KEYS  1 rows
-- ARGV  1 group   2 the seq up to which
-- Answer: copies: how many went; ids: their seqs
local from = '[' .. ARGV[1] .. ' '
local to = '(' .. ARGV[1] .. ' ' .. string.format('%016.0f', tonumber(ARGV[2]) + 1)
if '@GROUP@' ~= 'ids' then
  return redis.call('ZREMRANGEBYLEX', KEYS[1], from, to)
end
local seqs = {}
for i, row in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], from, to)) do
  seqs[i] = tonumber(string.sub(row, #ARGV[1] + 2))
end
if #seqs > 0 then
  redis.call('ZREMRANGEBYLEX', KEYS[1], from, to)
end
return seqs
