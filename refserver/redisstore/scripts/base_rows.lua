-- base_rows.lua is included by scripts of groups whose members have rows of
-- their own: what base.lua is for a log. The head is a number of its own there,
-- since no log has to keep its newest entry.
local function base_rows(meta)
  local noted = redis.call('HMGET', meta, 'epoch', 'base', 'seq')
  if noted[1] == '@EPOCH@' then
    return tonumber(noted[2])
  end
  local newest = noted[3] or '0'
  redis.call('HSET', meta, 'epoch', '@EPOCH@', 'base', newest)
  return tonumber(newest)
end
