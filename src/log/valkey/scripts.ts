/** The prefix of all keys in this layout. A layout that older servers cannot read gets another number. */
export const KEY_PREFIX = 'payout-sandbox:4:';

/** The number of the newest format of commands and states that this program reads and writes. */
export const FORMAT = 1;

export type WorldKeys = ReturnType<typeof keysOf>;

/** The keys of one world, which are in one hash slot. */
export function keysOf(worldId: string) {
  const tag = `${KEY_PREFIX}{${worldId}}:`;
  return {
    /** The single values: epoch, format, positions, bases. */
    head: `${tag}head`,
    /** The commands, a stream whose ids are `0-POSITION`. */
    log: `${tag}log`,
    /** The positions of the restores in the log, by the names of their states. */
    restores: `${tag}restores`,
    /** Why the world was dropped, for some minutes: longer than a server needs to look up all its copies. */
    dropped: `${tag}dropped`,
    /** The channel that announces news. */
    news: `${tag}news`,
    /** The key of a state that is stored beside the log: a base, or what a restore puts in place. */
    state: (name: string) => `${tag}state:${name}`,
  };
}

const LIST = `${KEY_PREFIX}{worlds}:`;
/** The list of worlds: when each was used last, what each holds, and the sum of that. */
export const LIST_KEYS = [`${LIST}used`, `${LIST}held`, `${LIST}total`] as const;

// In the scripts of a log, positions count its commands from 1. Numbers are written in full, never as 1e+15.

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** A life of a world, which begins in this call: later ones are greater. */
const EPOCH = `
local function newEpoch(server)
  return string.format('%.0f', time[1] * 1000000 + time[2]) .. server
end`;

const MARK_KEPT_MS = 600_000;

/** For how long a server that listens to a world is taken to do so. What it missed comes with its next call, however late that is. */
const HEARD_MS = 60_000;
/** How often it calls, so that news is announced to it. */
export const HEARD_AGAIN_MS = HEARD_MS / 3;

/**
 * Opens a world, and makes it if it does not exist. KEYS: head log restores.
 * ARGV: format, how long its keys are kept in ms, server, the scenario of a new one (empty to make none), its bases.
 *
 * @returns {epoch, format, ms when it was made, its bases, its first scenario, 1 if it was made now}; {} without one
 */
const OPEN = `${NOW}${EPOCH}
local head = redis.call('HMGET', KEYS[1], 'epoch', 'format', 'opened', 'bases', 'source')
if head[1] then return {head[1], tonumber(head[2]), tonumber(head[3]), head[4], head[5] or '', 0} end
if ARGV[4] == '' then return {} end
redis.call('DEL', unpack(KEYS))
local text = string.format('%.0f', now)
local epoch = newEpoch(ARGV[3])
redis.call('HSET', KEYS[1], 'epoch', epoch, 'format', ARGV[1], 'opened', text, 'bases', ARGV[5], 'source', ARGV[4],
  'trimmed', 0, 'last', '', 'used', text, 'renewed', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {epoch, tonumber(ARGV[1]), now, ARGV[5], ARGV[4], 1}
`;

/**
 * Returns what a server has not seen of a log, and then appends its commands. A command that is in the log already, since the
 * reply to an earlier call was lost, is not appended again. A log without the command that was seen last has lost it, since the
 * store came back with older data: that begins another life of the world. Without commands it only reads what is new; a store that is full or
 * read-only refuses even that (`#!lua` without the flag `no-writes`), since a replica may be behind.
 *
 * KEYS: head log restores dropped. ARGV: epoch, format, position and name of the last command seen, server, channel,
 * 1 if the call is a use of the world, how long its keys are kept in ms, and after how long they
 * are kept for longer, 1 if the server listens to the channel: news is announced only to somebody; for each command its number,
 * the name of the state that it restores (or empty), its text.
 *
 * @returns {'done', ms, commands not seen before, 1 if the stored states are to be kept for longer};
 * {'more', ms, commands} when there are more to see first; {'behind'} when the log was trimmed past it;
 * {'newer', format} when only a newer program can read it; {'gone', why} for another life, with no reason if nobody dropped it
 */
const APPEND = `#!lua
${NOW}${EPOCH}
local PAGE = 500
local head = redis.call('HMGET', KEYS[1], 'epoch', 'format', 'last', 'trimmed', 'renewed', 'heard')
if head[1] ~= ARGV[1] then return {'gone', redis.call('GET', KEYS[4]) or ''} end
if tonumber(head[2]) > tonumber(ARGV[2]) then return {'newer', tonumber(head[2])} end
local last, server, news, known = head[3], ARGV[5], {}, {}
local text = string.format('%.0f', now)
if last ~= ARGV[4] then
  if tonumber(ARGV[3]) < tonumber(head[4]) then return {'behind'} end
  news = redis.call('XRANGE', KEYS[2], '(0-' .. ARGV[3], '+', 'COUNT', PAGE)
  if not news[1] or news[1][2][2] ~= ARGV[4] then
    redis.call('HSET', KEYS[1], 'epoch', newEpoch(server))
    redis.call('DEL', KEYS[4])
    redis.call('PUBLISH', ARGV[6], '')
    return {'gone', ''}
  end
  if #news == PAGE then return {'more', now, news} end
  for _, entry in ipairs(news) do known[entry[2][4] .. ':' .. entry[2][6]] = true end
end
for nth = 11, #ARGV, 3 do
  local number, state = ARGV[nth], ARGV[nth + 1]
  local name = server .. ':' .. number
  if not known[name] then
    local id = redis.call('XADD', KEYS[2], '0-*', 'p', last, 's', server, 'n', number, 't', text, 'c', ARGV[nth + 2])
    if state ~= '' then
      redis.call('HSET', KEYS[3], state, string.sub(id, 3))
      redis.call('PEXPIRE', KEYS[3], ARGV[8])
    end
    last = name
  end
end
local heard = tonumber(head[6] or '0')
if ARGV[10] == '1' and heard < now + ${HEARD_MS / 2} then
  heard = now + ${HEARD_MS}
  redis.call('HSET', KEYS[1], 'heard', string.format('%.0f', heard))
end
if last ~= head[3] then
  if ARGV[7] == '1' then redis.call('HSET', KEYS[1], 'last', last, 'used', text)
  else redis.call('HSET', KEYS[1], 'last', last) end
  if now < heard then redis.call('PUBLISH', ARGV[6], server) end
end
if now - tonumber(head[5]) < tonumber(ARGV[9]) then return {'done', now, news, 0} end
redis.call('HSET', KEYS[1], 'renewed', text)
for nth = 1, 3 do redis.call('PEXPIRE', KEYS[nth], ARGV[8]) end
return {'done', now, news, 1}
`;

/**
 * Replaces the list of bases, and trims the log up to the first of them, unless another server has changed the list meanwhile.
 * It may have been done already, when the reply to an earlier call was lost: then the new base is in the list.
 * KEYS: head log restores, the states that are no longer needed. ARGV: epoch, the bases before, those from now on, the position
 * of the first of them, format, the key of the new base; the names of the restored states that are no longer needed.
 *
 * @returns 1 if the new base is in the list
 */
const COMPACT = `
local head = redis.call('HMGET', KEYS[1], 'epoch', 'bases', 'format')
if head[1] == ARGV[1] and string.find(head[2], '"key":"' .. ARGV[6] .. '"', 1, true) then return 1 end
if head[1] ~= ARGV[1] or head[2] ~= ARGV[2] or tonumber(head[3]) > tonumber(ARGV[5]) then return 0 end
redis.call('HSET', KEYS[1], 'bases', ARGV[3], 'trimmed', ARGV[4], 'format', ARGV[5])
if ARGV[4] ~= '0' then
  redis.call('HDEL', KEYS[1], 'source')
  redis.call('XTRIM', KEYS[2], 'MINID', '0-' .. string.format('%.0f', ARGV[4] + 1))
end
if #KEYS > 3 then redis.call('UNLINK', unpack(KEYS, 4)) end
if #ARGV > 6 then redis.call('HDEL', KEYS[3], unpack(ARGV, 7)) end
return 1
`;

/**
 * Adds pieces to a state that is stored beside a log. They expire even if the server dies before it writes the rest.
 * KEYS: the state. ARGV: time to live in ms; the number and the text of each piece.
 */
const WRITE_STATE = `
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`;

/**
 * Drops a world. A call that is sent again, after a lost reply, does not drop the world that has taken its place. KEYS: head log
 * restores dropped mark. ARGV: reason, channel, number of the call; and optionally how long, in ms of the store's own time, the
 * world must have been unused.
 *
 * @returns {1, its bases, the names of its restored states}; {0} if there was none, {-1} if it was used meanwhile
 */
const DROP = `${NOW}
if redis.call('GET', KEYS[5]) == ARGV[3] then return {1, '', {}} end
local head = redis.call('HMGET', KEYS[1], 'epoch', 'used', 'bases')
if not head[1] then return {0} end
if ARGV[4] and tonumber(head[2]) > now - ARGV[4] then return {-1} end
local restores = redis.call('HKEYS', KEYS[3])
redis.call('DEL', unpack(KEYS, 1, 3))
redis.call('SET', KEYS[4], ARGV[1], 'PX', ${MARK_KEPT_MS})
redis.call('SET', KEYS[5], ARGV[3], 'PX', 60000)
redis.call('PUBLISH', ARGV[2], '')
return {1, head[3], restores}
`;

/**
 * Notes when worlds were used, and what they hold, and returns what the list knows of them. A world that is not listed stays so:
 * it may have been dropped. What a later command has made of a world is not replaced by what an earlier one has.
 *
 * KEYS: used held total. ARGV: for each world its id, when it was used in ms, its epoch, position and records.
 *
 * @returns {how many worlds are listed, how many records they hold, for each world `EPOCH POSITION RECORDS`, or empty, ms}
 */
const EXCHANGE = `${NOW}
local listed = {}
for nth = 1, #ARGV, 5 do
  local id, epoch, position, records = ARGV[nth], ARGV[nth + 2], ARGV[nth + 3], ARGV[nth + 4]
  local held = ''
  if redis.call('ZSCORE', KEYS[1], id) then
    redis.call('ZADD', KEYS[1], 'GT', ARGV[nth + 1], id)
    held = redis.call('HGET', KEYS[2], id) or '0 0 0'
    local ofEpoch, ofPosition, before = string.match(held, '^(%S+) (%d+) (%d+)$')
    if epoch > ofEpoch or epoch == ofEpoch and tonumber(position) > tonumber(ofPosition) then
      held = epoch .. ' ' .. position .. ' ' .. records
      redis.call('HSET', KEYS[2], id, held)
      redis.call('INCRBY', KEYS[3], records - before)
    end
  end
  listed[#listed + 1] = held
end
return {redis.call('ZCARD', KEYS[1]), tonumber(redis.call('GET', KEYS[3]) or '0'), listed, now}
`;

/** Removes a world from the list. KEYS: used held total. ARGV: its id. */
const UNLIST = `
local held = redis.call('HGET', KEYS[2], ARGV[1])
if held then
  redis.call('DECRBY', KEYS[3], string.match(held, '(%d+)$'))
  redis.call('HDEL', KEYS[2], ARGV[1])
end
redis.call('ZREM', KEYS[1], ARGV[1])
`;

/**
 * The scripts that run in the store, each as one atomic step, with the number of their keys. All keys of a script are in one
 * hash slot, and each script names those that it uses.
 */
export const SCRIPTS = {
  open: { lua: OPEN, numberOfKeys: 3 },
  append: { lua: APPEND, numberOfKeys: 4 },
  /** It is called with the number of its keys, since there may be more. */
  compact: { lua: COMPACT },
  writeState: { lua: WRITE_STATE, numberOfKeys: 1 },
  drop: { lua: DROP, numberOfKeys: 5 },
  exchange: { lua: EXCHANGE, numberOfKeys: 3 },
  unlist: { lua: UNLIST, numberOfKeys: 3 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
