-- store.lua is included by append_group: idempotent sends, then the log. It
-- leaves the message's seq in seq.
-- include sent
if stored then
  if ARGV[5] == '1' then
    -- The attempt whose answer was lost had this very record: it is answered now.
    local id = '0-' .. stored
    local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
    if entry and entry[2][2] == ARGV[3] then
      return 2 * stored + ((cursor and tonumber(cursor) >= tonumber(stored)) and 1 or 0)
    end
  end
  return -stored
end
-- include mark
local id = redis.call('XADD', KEYS[1], '0-*', 'r', ARGV[3])
local seq = string.sub(id, 3)
if '@DEDUP@' == 'on' then
  redis.call('HSET', KEYS[3], field, seq)
end
seq = tonumber(seq)
