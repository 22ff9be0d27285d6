-- store.lua is included by the append scripts: idempotent sends, then the log.
-- It leaves the message's seq in seq.
--
-- The answers of sends are kept in one hash per conversation and time bucket,
-- field 'SENDER CLIENT_MSG_ID', value seq. Field '@' says in which epoch the
-- bucket was last used: where it isn't this one, the bucket is new or the epoch
-- is, so that base and expiry cost nothing on all other sends. Its value is
-- longer than 64 bytes on purpose, which makes the hash a hash table from the
-- start: as a listpack of up to 512 fields it would be searched from end to end
-- by every send (see doc.go).
local field = sender .. ' ' .. ARGV[2]
local sent = redis.call('HMGET', KEYS[3], field, '@')
local stored = sent[1]
local previous = KEYS[#KEYS]
if not stored and ARGV[4] ~= '0' then
  stored = redis.call('HGET', previous, field)
end
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
if sent[2] ~= '@MARK@' then
  -- include head
  -- include base
  base(KEYS[4], KEYS[1])
  redis.call('HSET', KEYS[3], '@', '@MARK@')
  if ARGV[4] ~= '0' then
    redis.call('PEXPIRE', KEYS[3], ARGV[4])
  end
end
local id = redis.call('XADD', KEYS[1], '0-*', 'r', ARGV[3])
local seq = string.sub(id, 3)
redis.call('HSET', KEYS[3], field, seq)
seq = tonumber(seq)
