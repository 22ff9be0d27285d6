-- login lists the groups of a user. It touches no seqs: it is a script so that it
-- belongs to an epoch, and a login is never answered in one that is over.
-- KEYS  1 user   2 groups
-- Answer: the groups; no_such_user
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'no_such_user'
end
return redis.call('SMEMBERS', KEYS[2])
