-- mark.lua is included by the append scripts, after sent.lua and before the
-- message is added: the first send of an epoch notes the base, the first of a
-- bucket makes it expire.
if marked ~= '@MARK@' then
  -- include last
  -- include base
  base(KEYS[4], KEYS[1])
  -- include bucket
end
