-- base.lua is included by scripts, after last.lua.
--
-- base is the head at which this epoch began for a conversation, and former the
-- epoch that the conversation was in before, 0 when it was in none; the first
-- script of an epoch that touches the conversation notes both. What was stored
-- up to base was stored by the end of former, whatever epochs lie between.
local function base(meta, log)
  local noted = redis.call('HMGET', meta, 'epoch', 'base', 'former')
  if noted[1] == '@EPOCH@' then
    return tonumber(noted[2]), tonumber(noted[3] or '0')
  end
  local newest = last(log)
  redis.call('HSET', meta, 'epoch', '@EPOCH@', 'base', newest, 'former', noted[1] or '0')
  return newest, tonumber(noted[1] or '0')
end
