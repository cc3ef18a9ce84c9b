/** The scripts that keep the log of a world. Positions count its entries from 1; numbers are written in full, never as 1e+15. */

export const NOW = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end`;

/**
 * Opens a world, and creates it if it does not exist. KEYS: head log journal events snapshot.
 * ARGV: format, time to live in ms, server, the command that opens it.
 *
 * @returns {epoch, format, position of the snapshot, ms when it was made, 1 if it was made now}
 */
export const OPEN = `${NOW}
local head = redis.call('HMGET', KEYS[1], 'epoch', 'format', 'snapshot', 'opened')
if head[1] then return {head[1], tonumber(head[2]), tonumber(head[3]), tonumber(head[4]), 0} end
if ARGV[4] == '' then return {} end
redis.call('DEL', unpack(KEYS))
local now = nowMs()
local epoch = string.format('%.0f', now) .. '-' .. ARGV[3]
redis.call('XADD', KEYS[2], '0-*', 'p', '', 's', ARGV[3], 'n', '0', 't', string.format('%.0f', now), 'c', ARGV[4])
redis.call('HSET', KEYS[1], 'epoch', epoch, 'format', ARGV[1], 'opened', string.format('%.0f', now),
  'snapshot', 0, 'trimmed', 0, 'last', ARGV[3] .. ':0', 'asked', 0, 'begun', '', 'used', string.format('%.0f', now), 'watched', 0,
  'entries', 0, 'bytes', 0, 'evicted', 0, 'journaled', '')
for nth = 1, 2 do redis.call('PEXPIRE', KEYS[nth], ARGV[2]) end
return {epoch, tonumber(ARGV[1]), 0, now, 1}
`;

/**
 * Returns what a server has not seen of a log, and then appends its commands. A command that is in the log already, since the
 * reply to an earlier call was lost, is not appended again. Without commands it only reads what is new; a store that is full or
 * read-only refuses even that (`#!lua` without the flag `no-writes`), since a replica may be behind.
 *
 * KEYS: head log journal. ARGV: epoch, format, position and name of the last command seen, server, channel, fingerprint of the
 * state at that position, name of the call, how many requests begin, which take their numbers in the journal, 1 if the call is a
 * use of the world; for each command its number, 1 if it clears the journal, its text. A repeated call takes no
 * further numbers, unless another server's call came between: then some numbers are left out.
 *
 * @returns {'done', ms, ms until which events are read, commands not seen before, number of the last request that has begun};
 * {'more', ms, 0, commands} when there are more to see first; {'behind'} when the log does not continue what was seen;
 * {'newer', format} when only a newer program can read it; {'gone'}
 */
export const APPEND = `#!lua
${NOW}
local PAGE = 500
local head = redis.call('HMGET', KEYS[1], 'epoch', 'format', 'last', 'watched', 'trimmed', 'asked', 'begun')
if head[1] ~= ARGV[1] then return {'gone'} end
if tonumber(head[2]) > tonumber(ARGV[2]) then return {'newer', tonumber(head[2])} end
local now, last, server, news, known = nowMs(), head[3], ARGV[5], {}, {}
if last ~= ARGV[4] then
  if tonumber(ARGV[3]) < tonumber(head[5]) then return {'behind'} end
  news = redis.call('XRANGE', KEYS[2], '(0-' .. ARGV[3], '+', 'COUNT', PAGE)
  if not news[1] or news[1][2][2] ~= ARGV[4] then return {'behind'} end
  if #news == PAGE then return {'more', now, 0, news} end
  for _, entry in ipairs(news) do known[entry[2][4] .. ':' .. entry[2][6]] = true end
end
local asked = tonumber(head[6])
if ARGV[9] ~= '0' and head[7] ~= ARGV[8] then
  asked = asked + ARGV[9]
  redis.call('HSET', KEYS[1], 'asked', string.format('%.0f', asked), 'begun', ARGV[8])
end
if ARGV[10] == '1' then redis.call('HSET', KEYS[1], 'used', string.format('%.0f', now)) end
for nth = 11, #ARGV, 3 do
  local number, clears, text = ARGV[nth], ARGV[nth + 1], ARGV[nth + 2]
  local name = server .. ':' .. number
  if not known[name] then
    local state = last == ARGV[4] and ARGV[7] or ''
    redis.call('XADD', KEYS[2], '0-*', 'p', last, 's', server, 'n', number, 't', string.format('%.0f', now), 'c', text, 'f', state)
    if clears == '1' then
      redis.call('DEL', KEYS[3])
      redis.call('HSET', KEYS[1], 'entries', 0, 'bytes', 0, 'evicted', 0)
    end
    last = name
  end
end
if last ~= head[3] then
  redis.call('HSET', KEYS[1], 'last', last)
  redis.call('PUBLISH', ARGV[6], server)
end
return {'done', now, tonumber(head[4]), news, asked}
`;

/** Extends the life of a world. KEYS: all of its keys. ARGV: time to live in ms. */
export const RENEW = `
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
`;

/**
 * Replaces the snapshot, and trims the log up to the previous one, unless another server did so.
 * KEYS: head log snapshot, the pieces of the new one. ARGV: epoch, position of the snapshot before, position of the new one, format, time to live in ms.
 *
 * @returns the position of the current snapshot
 */
export const COMPACT = `
local head = redis.call('HMGET', KEYS[1], 'epoch', 'snapshot', 'format')
local isStale = head[1] ~= ARGV[1] or head[2] ~= ARGV[2] or tonumber(head[3]) > tonumber(ARGV[4])
if isStale then
  redis.call('DEL', KEYS[4])
  return tonumber(head[2] or '0')
end
redis.call('RENAME', KEYS[4], KEYS[3])
redis.call('PEXPIRE', KEYS[3], ARGV[5])
redis.call('XTRIM', KEYS[2], 'MINID', '0-' .. string.format('%.0f', ARGV[2] + 1))
redis.call('HSET', KEYS[1], 'snapshot', ARGV[3], 'trimmed', ARGV[2], 'format', ARGV[4])
return tonumber(ARGV[3])
`;

/**
 * Adds pieces to a state that is stored beside a log. They expire even if the server dies before it writes the rest.
 * KEYS: the state. ARGV: time to live in ms; the number and the text of each piece.
 */
export const WRITE_STATE = `
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`;

/**
 * Drops a world. A call that is sent again, after a lost reply, does not drop the world that has taken its place. KEYS: head log
 * journal events snapshot dropped mark. ARGV: reason, channel, number of the call; and optionally how long, in ms of the store's
 * own time, the world must have been unused.
 *
 * @returns 1 if there was one
 */
export const DROP = `${NOW}
if redis.call('GET', KEYS[7]) == ARGV[3] then return 1 end
local head = redis.call('HMGET', KEYS[1], 'epoch', 'used')
if not head[1] or ARGV[4] and tonumber(head[2] or '0') > nowMs() - ARGV[4] then return 0 end
redis.call('DEL', unpack(KEYS, 1, 5))
redis.call('SET', KEYS[6], ARGV[1], 'PX', 60000)
redis.call('SET', KEYS[7], ARGV[3], 'PX', 60000)
redis.call('PUBLISH', ARGV[2], '')
return 1
`;
