-- count_senders counts an inbox by sender.
-- KEYS  1 senders
-- ARGV  1 the row after which to go on ('': from the start)   2 most rows
-- Answer: {the last row that was counted ('' when that was all), sender, messages, sender, messages, …}
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local out, left = {''}, tonumber(ARGV[2])
while left > 0 do
  local n = math.min(1000, left)
  local rows = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, n)
  for i = 1, #rows do
    local sender = string.sub(rows[i], 1, -18)
    local at = #out
    if out[at - 1] == sender then
      out[at] = out[at] + 1
    else
      out[at + 1], out[at + 2] = sender, 1
    end
  end
  if #rows < n then
    return out
  end
  left = left - n
  from = '(' .. rows[n]
end
out[1] = string.sub(from, 2)
return out
