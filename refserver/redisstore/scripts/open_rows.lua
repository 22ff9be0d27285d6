-- open_rows reads the state of a group whose members have rows of their own, and
-- notes its base in this epoch.
-- KEYS  1 meta   2 members
-- Answer: {base, head}; nothing when the group has no members
if redis.call('EXISTS', KEYS[2]) == 0 then
  return {}
end
-- include base_rows
local base = base_rows(KEYS[1])
return {base, tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')}
