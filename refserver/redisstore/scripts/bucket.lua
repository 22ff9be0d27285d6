-- bucket.lua is included where a send may be the first of a bucket or an epoch:
-- it marks the bucket, and makes it expire.
if '@DEDUP@' == 'on' then
  redis.call('HSET', KEYS[3], '@', '@MARK@')
  if ARGV[4] ~= '0' then
    redis.call('PEXPIRE', KEYS[3], ARGV[4])
  end
end
