-- read_rows returns a part of a user's rows of one group, and removes it where
-- that is asked for.
-- KEYS  1 rows
-- ARGV  1 group   2 the seq after which to begin   3 the seq up to which to go
--       4 most rows (0: all of them, or too_large)   5 most bytes of records, copies; one row comes whatever its size
--       6 '1' for the last rows, newest first   7 '1' to remove what is returned
-- Answer: {1 when the part holds others, seq, record, seq, record, …}; of ids only
-- the seqs; too_large
local prefix = ARGV[1] .. ' '
local low = '[' .. prefix .. string.format('%016.0f', tonumber(ARGV[2]) + 1)
local high = '(' .. prefix .. string.format('%016.0f', tonumber(ARGV[3]) + 1)
local limit, bytes = tonumber(ARGV[4]), tonumber(ARGV[5])
local newest = ARGV[6] == '1'
local rows, out, size, more = {}, {0}, 0, false
local from = newest and high or low
while not more do
  local n = 500
  if limit > 0 then
    n = math.min(n, limit - #rows + 1)
  end
  local part
  if newest then
    part = redis.call('ZREVRANGEBYLEX', KEYS[1], from, low, 'LIMIT', 0, n)
  else
    part = redis.call('ZRANGEBYLEX', KEYS[1], from, high, 'LIMIT', 0, n)
  end
  for _, row in ipairs(part) do
    if '@GROUP@' ~= 'ids' then
      size = size + #row - #prefix - 17
      if size > bytes then
        if limit == 0 then
          return 'too_large'
        end
        more = #rows > 0
      end
    end
    more = more or limit > 0 and #rows == limit
    if more then
      break
    end
    rows[#rows + 1] = row
    out[#out + 1] = tonumber(string.sub(row, #prefix + 1, #prefix + 16))
    if '@GROUP@' ~= 'ids' then
      out[#out + 1] = string.sub(row, #prefix + 18)
    end
  end
  if #part < n then
    break
  end
  from = '(' .. part[n]
end
if ARGV[7] == '1' then
  for i = 1, #rows, 1000 do -- unpack is limited by Lua's stack
    redis.call('ZREM', KEYS[1], unpack(rows, i, math.min(i + 999, #rows)))
  end
end
out[1] = more and 1 or 0
return out
