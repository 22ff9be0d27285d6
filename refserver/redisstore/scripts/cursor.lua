-- cursor reads one member's cursor.
-- KEYS  1 members
-- ARGV  1 user
-- Answer: the cursor; -1 when the user isn't a member; -2 when the group has no members
local cursor = redis.call('ZSCORE', KEYS[1], ARGV[1])
if cursor then
  return tonumber(cursor)
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -2
end
return -1
