-- epoch says which epoch this Redis process lives in. A process that isn't the
-- one noted may have lost the tail of what was stored, so it begins a new epoch.
-- The process names itself (INFO inside the script), so the answer can't belong
-- to another one. The new number is never below the clock in ms: an epoch whose
-- own note was lost with the tail isn't given out again.
-- KEYS  1 epoch
-- Answer: epoch
local run_id = 'embedded' -- a store in memory without INFO: it can't come back
local info = redis.pcall('INFO', 'server')
if type(info) == 'string' then
  run_id = string.match(info, 'run_id:(%w+)') or run_id
end
local noted = redis.call('HMGET', KEYS[1], 'run_id', 'epoch')
if noted[1] == run_id and noted[2] then
  return tonumber(noted[2])
end
local now = redis.call('TIME')
local epoch = math.floor(tonumber(now[1]) * 1000 + tonumber(now[2]) / 1000)
if noted[2] then
  epoch = math.max(epoch, tonumber(noted[2]) + 1)
end
redis.call('HSET', KEYS[1], 'run_id', run_id, 'epoch', epoch)
return epoch
