/** The prefix of all keys in this layout. A layout that older servers cannot read gets another number. */
export const KEY_PREFIX = 'payout-sandbox:8:';

/** The number of the newest format of commands and states that this program reads and writes. */
export const FORMAT = 2;

export type WorldKeys = ReturnType<typeof keysOf>;

/** The keys of one world, which are in one hash slot. */
export function keysOf(worldId: string) {
  const tag = `${KEY_PREFIX}{${worldId}}:`;
  return {
    /** The single values: epoch, format, positions, the snapshot. */
    head: `${tag}head`,
    /** The commands since the snapshot, a stream whose ids are `0-POSITION`. */
    log: `${tag}log`,
    /** The pieces of the snapshot and of the states that restores put in place. */
    states: `${tag}states`,
  };
}

/** The list of worlds: when each was used last. */
export const LIST_KEY = `${KEY_PREFIX}worlds`;

/**
 * Opens a world, or returns what a server has not seen of its log and appends its commands. A log without the command that was seen
 * last has lost it, since the store came back with older data: that begins another life of the world. Without commands it only reads
 * what is new; a store that is full or read-only refuses even that (`#!lua` without the flag `no-writes`), since a replica may be
 * behind. Positions count the commands of a log from 1. Numbers are written in full, never as 1e+15.
 *
 * KEYS: head log states. ARGV: epoch (empty to open), position and name of the last command seen, server, 1 if the call is a
 * use of the world, how long its keys are kept in ms, after how long they are kept for longer, the scenario of a new world (empty to
 * make none); for each command its number and its text.
 *
 * @returns {'open', ms, epoch, ms when it was made, its snapshot, its first scenario, 1 if it was made now};
 * {'done', ms, commands not seen before}; {'more', ms, commands} when there are more to see first; {'behind'} when the log was trimmed
 * past it; {'newer', format} when only a newer program can read it; {'gone'} when the world was dropped; {'missing'} when it is not there without
 * that: it has expired, or the store has lost it; {'lost'} when the store has lost the end of it
 */
const CALL = `#!lua
local PAGE, FORMAT = 500, ${FORMAT}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local text, server = string.format('%.0f', now), ARGV[4]
local function newEpoch() return string.format('%.0f', time[1] * 1000000 + time[2]) .. server end
local head = redis.call('HMGET', KEYS[1], 'epoch', 'format', 'last', 'trimmed', 'renewed', 'opened', 'snapshot', 'source', 'lost', 'dropped')
if head[1] and tonumber(head[2]) > FORMAT then return {'newer', tonumber(head[2])} end
if ARGV[1] == '' then
  if head[1] then return {'open', now, head[1], tonumber(head[6]), head[7] or '', head[8] or '', 0} end
  if ARGV[8] == '' then return {'gone'} end
  redis.call('DEL', unpack(KEYS))
  local epoch = newEpoch()
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'format', FORMAT, 'opened', text, 'source', ARGV[8], 'trimmed', 0, 'last', '', 'renewed', text)
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  return {'open', now, epoch, now, '', ARGV[8], 1}
end
if not head[1] and head[10] ~= ARGV[1] then return {'missing'} end
if head[1] ~= ARGV[1] then return {head[9] == ARGV[1] and 'lost' or 'gone'} end
local last, news = head[3], {}
if last ~= ARGV[3] then
  if tonumber(ARGV[2]) < tonumber(head[4]) then return {'behind'} end
  news = redis.call('XRANGE', KEYS[2], '(0-' .. ARGV[2], '+', 'COUNT', PAGE)
  if not news[1] or news[1][2][2] ~= ARGV[3] then
    redis.call('HSET', KEYS[1], 'epoch', newEpoch(), 'lost', ARGV[1])
    return {'lost'}
  end
  if #news == PAGE then return {'more', now, news} end
end
for nth = 9, #ARGV, 2 do
  redis.call('XADD', KEYS[2], '0-*', 'p', last, 's', server, 'n', ARGV[nth], 't', text, 'c', ARGV[nth + 1])
  last = server .. ':' .. ARGV[nth]
end
if last ~= head[3] then redis.call('HSET', KEYS[1], 'last', last) end
if ARGV[5] == '1' and now - tonumber(head[5]) >= tonumber(ARGV[7]) then
  redis.call('HSET', KEYS[1], 'renewed', text)
  for nth = 1, 2 do redis.call('PEXPIRE', KEYS[nth], ARGV[6]) end
  redis.call('PEXPIRE', KEYS[3], ARGV[6] + 60000)
elseif last ~= head[3] and head[3] == '' then
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
return {'done', now, news}
`;

/**
 * Replaces the snapshot of a world, and trims the log up to it, unless there is one of the same place or a later one.
 * KEYS: head log states. ARGV: epoch, the snapshot, its position; the pieces of other states that are no longer needed.
 *
 * @returns 1 if it was replaced
 */
const KEEP = `
local head = redis.call('HMGET', KEYS[1], 'epoch', 'trimmed', 'snapshot')
if head[1] ~= ARGV[1] or tonumber(head[2]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'snapshot', ARGV[2], 'trimmed', ARGV[3], 'format', ${FORMAT})
redis.call('HDEL', KEYS[1], 'source')
redis.call('XTRIM', KEYS[2], 'MINID', '0-' .. string.format('%.0f', ARGV[3] + 1))
local before = head[3] and cjson.decode(head[3]).state or {pieces = 0}
for nth = 1, before.pieces do redis.call('HDEL', KEYS[3], before.name .. '/' .. nth - 1) end
for nth = 4, #ARGV do redis.call('HDEL', KEYS[3], ARGV[nth]) end
return 1
`;

/** Drops a world, and remembers for ten minutes that it was dropped. KEYS: head log states. @returns 0 without one */
const DROP = `
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 0 end
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'dropped', epoch)
redis.call('PEXPIRE', KEYS[1], 600000)
return 1
`;

/** The scripts that run in the store, each as one atomic step, with the number of their keys. */
export const SCRIPTS = {
  call: { lua: CALL, numberOfKeys: 3 },
  keep: { lua: KEEP, numberOfKeys: 3 },
  drop: { lua: DROP, numberOfKeys: 3 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
