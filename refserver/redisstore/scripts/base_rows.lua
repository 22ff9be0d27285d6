-- base_rows.lua is included by scripts of groups whose members have rows of
-- their own: what base.lua is for a log. The head is a number of its own there,
-- since no log has to keep its newest entry.
local function base_rows(meta)
  local noted = redis.call('HMGET', meta, 'epoch', 'base', 'former', 'seq')
  if noted[1] == '@EPOCH@' then
    return tonumber(noted[2]), tonumber(noted[3] or '0')
  end
  local newest, former = noted[4] or '0', noted[1] or '0'
  redis.call('HSET', meta, 'epoch', '@EPOCH@', 'base', newest, 'former', former)
  return tonumber(newest), tonumber(former)
end
