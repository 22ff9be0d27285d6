-- open_rows reads the state of a group whose members have rows of their own, and
-- notes its base in this epoch, and the epoch before.
-- KEYS  1 meta   2 members   3 storing
-- Answer: {base, former, head, messages that are being stored}; nothing when the group has no members
if redis.call('EXISTS', KEYS[2]) == 0 then
  return {}
end
-- include base_rows
local began, former = base_rows(KEYS[1])
return {began, former, tonumber(redis.call('HGET', KEYS[1], 'seq') or '0'), redis.call('HLEN', KEYS[3])}
