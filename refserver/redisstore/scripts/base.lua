-- base.lua is included by scripts, after last.lua.
--
-- base is the head at which this epoch began for a conversation; the first
-- script of an epoch that touches the conversation notes it.
local function base(meta, log)
  local noted = redis.call('HMGET', meta, 'epoch', 'base')
  if noted[1] == '@EPOCH@' then
    return tonumber(noted[2])
  end
  local newest = last(log)
  redis.call('HSET', meta, 'epoch', '@EPOCH@', 'base', newest)
  return newest
end
