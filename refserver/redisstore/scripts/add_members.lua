-- add_members adds members at the head; who is a member stays where it is.
-- KEYS  1 members   2 log
-- ARGV  users
-- Answer: how many were added
-- include head
local newest = head(KEYS[2])
local added = 0
for i = 1, #ARGV, 500 do
  local pairs_of = {}
  for j = i, math.min(i + 499, #ARGV) do
    pairs_of[#pairs_of + 1] = newest
    pairs_of[#pairs_of + 1] = ARGV[j]
  end
  added = added + redis.call('ZADD', KEYS[1], 'NX', unpack(pairs_of))
end
return added
