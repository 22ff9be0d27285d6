-- sent.lua is included by the append scripts: it looks a send up among those
-- that were stored before, and leaves what is noted of it in stored.
--
-- The answers of sends are kept in one hash per conversation and time bucket,
-- field 'SENDER CLIENT_MSG_ID', value seq. Field '@' says in which epoch the
-- bucket was last used: where it isn't this one, the bucket is new or the epoch
-- is, so that base and expiry cost nothing on all other sends. Its value is
-- longer than 64 bytes on purpose, which makes the hash a hash table from the
-- start: as a listpack of up to 512 fields it would be searched from end to end
-- by every send (see doc.go). Where sends aren't idempotent there is no bucket.
local field = sender .. ' ' .. ARGV[2]
local stored, marked
if '@DEDUP@' == 'on' then
  local sent = redis.call('HMGET', KEYS[3], field, '@')
  stored, marked = sent[1], sent[2]
  if not stored and ARGV[4] ~= '0' then
    stored = redis.call('HGET', KEYS[#KEYS], field)
  end
end
