/**
 * The scripts that run in the store, where each is one atomic step. All keys of a world are in one hash slot, and each script
 * names those that it uses. Positions count the entries of a log from 1.
 */

/** What the keys of this layout begin with. A layout that older servers cannot read gets another number. */
export const KEY_PREFIX = 'payout-sandbox:1:';

/** The number of the newest format of commands and snapshots that this program reads and writes. */
export const FORMAT = 1;

export interface WorldKeys {
  /** What there is one of: epoch, format, positions, counters. */
  readonly head: string;
  /** The commands, a stream whose ids are `0-POSITION`. */
  readonly log: string;
  /** The text of each exchange, by its place. */
  readonly journal: string;
  /** The places of the journal, the oldest first. */
  readonly order: string;
  /** What happened while somebody watched, a stream whose ids are `EPOCH-NTH`, from 0. */
  readonly events: string;
  /** The state at one position, as pieces of text. */
  readonly snapshot: string;
  /** Why there is no such world any more, for a minute. */
  readonly dropped: string;
  /** The channel that says that something is new. */
  readonly news: string;
}

export function keysOf(worldId: string): WorldKeys {
  const tag = `${KEY_PREFIX}{${worldId}}:`;
  return {
    head: `${tag}head`,
    log: `${tag}log`,
    journal: `${tag}journal`,
    order: `${tag}order`,
    events: `${tag}events`,
    snapshot: `${tag}snapshot`,
    dropped: `${tag}dropped`,
    news: `${tag}news`,
  };
}

const NOW = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end`;

/**
 * Opens a world, and makes it where there is none. KEYS: head log journal order events snapshot.
 * ARGV: format, time to live in ms, server, the command that opens it.
 *
 * @returns {epoch, format, position of the snapshot, ms when it was made, 1 if it was made now}
 */
const OPEN = `${NOW}
local head = redis.call('HMGET', KEYS[1], 'epoch', 'format', 'snapshot', 'opened')
if head[1] then return {head[1], tonumber(head[2]), tonumber(head[3]), tonumber(head[4]), 0} end
if ARGV[4] == '' then return {} end
redis.call('DEL', unpack(KEYS))
local now = nowMs()
local epoch = string.format('%.0f', now) .. '-' .. ARGV[3]
redis.call('XADD', KEYS[2], '0-*', 'p', '', 's', ARGV[3], 'n', '0', 't', string.format('%.0f', now), 'c', ARGV[4])
redis.call('HSET', KEYS[1], 'epoch', epoch, 'format', ARGV[1], 'opened', string.format('%.0f', now),
  'snapshot', 0, 'trimmed', 0, 'last', ARGV[3] .. ':0', 'asked', 0, 'bytes', 0, 'evicted', 0, 'watched', 0)
for nth = 1, 2 do redis.call('PEXPIRE', KEYS[nth], ARGV[2]) end
return {epoch, tonumber(ARGV[1]), 0, now, 1}
`;

/**
 * Gives a server all commands that it has not seen, and then appends its own. A command that is in the log already, since the
 * reply to an earlier call was lost, is not appended again, and nor are the entries of the journal and the events of that call.
 *
 * KEYS: head log journal order events snapshot mark. ARGV: epoch, format, position and name of the last command seen, server, number of
 * the call, time to live in ms, 1 to renew it, channel, most entries of the journal, their most bytes;
 * how many entries of the journal, and for each its place, 1 if it is new, its text;
 * how many events, and for each its type and its data;
 * how many commands, and for each its number, 1 if it clears the journal, its text.
 *
 * @returns {'done', ms, ms until which events are read, commands not seen before, number of the first new entry of the journal};
 * {'more', ms, 0, commands} when there are more to see first; {'behind'} when the log does not continue what was seen;
 * {'newer', format} when only a newer program can read it; {'gone'}
 */
const SYNC = `${NOW}
local PAGE, MAX_EVENTS, MAX_EVENT_BYTES = 500, 1000, 1048576
local head = redis.call('HMGET', KEYS[1], 'epoch', 'trimmed', 'last', 'watched', 'format', 'asked')
if head[1] ~= ARGV[1] then return {'gone'} end
if tonumber(head[5]) > tonumber(ARGV[2]) then return {'newer', tonumber(head[5])} end
if tonumber(ARGV[3]) < tonumber(head[2]) then return {'behind'} end
local now = nowMs()
local news = {}
if head[3] ~= ARGV[4] then
  news = redis.call('XRANGE', KEYS[2], '(0-' .. ARGV[3], '+', 'COUNT', PAGE)
  if not news[1] or news[1][2][2] ~= ARGV[4] then return {'behind'} end
  if #news == PAGE then return {'more', now, 0, news} end
end

local nth = 12
local function take()
  nth = nth + 1
  return ARGV[nth - 1]
end
local server, call = ARGV[5], ARGV[6]
local first = tonumber(head[6]) + 1
local wrote, isKeyNew = false, false

local entries = tonumber(take())
local firstEntry = nth
local events = tonumber(ARGV[nth + 3 * entries])
local isRepeated = false
if entries + events > 0 then
  local mark = redis.call('GET', KEYS[7])
  local markedCall, markedFirst = string.match(mark or '', '^(%d+) (%d+)$')
  isRepeated = markedCall == call
  if isRepeated then first = tonumber(markedFirst) end
  if not isRepeated then redis.call('SET', KEYS[7], call .. ' ' .. string.format('%.0f', first), 'PX', 60000) end
end

if entries > 0 and not isRepeated then
  local asked = first - 1
  local counters = redis.call('HMGET', KEYS[1], 'bytes', 'evicted')
  local bytes, evicted = tonumber(counters[1]), tonumber(counters[2])
  for _ = 1, entries do
    local place, isNew, text = take(), take(), take()
    local length = redis.call('HSTRLEN', KEYS[3], place)
    if isNew == '1' then
      asked = asked + 1
      if redis.call('RPUSH', KEYS[4], place) == 1 then isKeyNew = true end
      text = string.format('%.0f', asked) .. ' ' .. text
    end
    if isNew == '1' or length > 0 then
      redis.call('HSET', KEYS[3], place, text)
      bytes = bytes + #text - length
    end
  end
  while redis.call('LLEN', KEYS[4]) > tonumber(ARGV[10]) or bytes > tonumber(ARGV[11]) do
    local oldest = redis.call('LPOP', KEYS[4])
    if not oldest then break end
    bytes = bytes - redis.call('HSTRLEN', KEYS[3], oldest)
    redis.call('HDEL', KEYS[3], oldest)
    evicted = evicted + 1
  end
  redis.call('HSET', KEYS[1], 'asked', asked, 'bytes', bytes, 'evicted', evicted)
  wrote = true
end

nth = firstEntry + 3 * entries + 1
if events > 0 and not isRepeated then
  local counters = redis.call('HMGET', KEYS[1], 'eventEpoch', 'eventBytes')
  local bytes = tonumber(counters[2])
  for _ = 1, events do
    local type, data = take(), take()
    redis.call('XADD', KEYS[5], counters[1] .. '-*', 't', type, 'd', data)
    if bytes == 0 then isKeyNew = true end
    bytes = bytes + #data
  end
  while redis.call('XLEN', KEYS[5]) > MAX_EVENTS or bytes > MAX_EVENT_BYTES do
    local oldest = redis.call('XRANGE', KEYS[5], '-', '+', 'COUNT', 1)[1]
    bytes = bytes - #oldest[2][4]
    redis.call('XDEL', KEYS[5], oldest[1])
  end
  redis.call('HSET', KEYS[1], 'eventBytes', bytes)
  wrote = true
end

nth = firstEntry + 3 * entries + 1 + 2 * events
local commands = tonumber(take())
if commands > 0 then
  local known = {}
  for _, entry in ipairs(news) do
    if entry[2][4] == server then known[entry[2][6]] = true end
  end
  local last = head[3]
  for _ = 1, commands do
    local number, clears, text = take(), take(), take()
    if not known[number] then
      redis.call('XADD', KEYS[2], '0-*', 'p', last, 's', server, 'n', number, 't', string.format('%.0f', now), 'c', text)
      last = server .. ':' .. number
      if clears == '1' then
        redis.call('DEL', KEYS[3], KEYS[4])
        redis.call('HSET', KEYS[1], 'bytes', 0, 'evicted', 0)
      end
    end
  end
  redis.call('HSET', KEYS[1], 'last', last)
  wrote = true
end

if isKeyNew or ARGV[8] == '1' then
  for key = 1, 6 do redis.call('PEXPIRE', KEYS[key], ARGV[7]) end
end
if wrote then redis.call('PUBLISH', ARGV[9], server) end
return {'done', now, tonumber(head[4]), news, first}
`;

/** The journal. KEYS: head journal. @returns {how many older entries were dropped, each as `NUMBER TEXT`} */
const JOURNAL = `
return {tonumber(redis.call('HGET', KEYS[1], 'evicted') or '0'), redis.call('HVALS', KEYS[2])}
`;

/** Clears the journal. KEYS: head journal order. @returns how many entries it had */
const CLEAR_JOURNAL = `
local count = redis.call('HLEN', KEYS[2])
redis.call('DEL', KEYS[2], KEYS[3])
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'bytes', 0, 'evicted', 0) end
return count
`;

/**
 * Says that somebody reads the events of a world. What was kept for readers who have not come back in time is dropped, and the
 * numbers begin again in a new epoch. KEYS: head events. ARGV: how long it holds, in ms.
 *
 * @returns {epoch, how many events there were in it}; {} when there is no such world
 */
const WATCH = `${NOW}
local head = redis.call('HMGET', KEYS[1], 'watched', 'eventEpoch')
if not head[1] then return {} end
local now = nowMs()
local epoch = head[2]
if not epoch or tonumber(head[1]) < now then
  epoch = string.format('%.0f', now)
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'eventEpoch', epoch, 'eventBytes', 0)
end
redis.call('HSET', KEYS[1], 'watched', string.format('%.0f', now + ARGV[1]))
local last = 0
if redis.call('EXISTS', KEYS[2]) == 1 then
  local stream = redis.call('XINFO', 'STREAM', KEYS[2])
  for nth = 1, #stream, 2 do
    if stream[nth] == 'last-generated-id' then last = tonumber(string.match(stream[nth + 1], '%-(%d+)$')) + 1 end
  end
end
return {epoch, last}
`;

/**
 * Puts a new snapshot in the place of the one before, and trims the log up to that one, unless another server did.
 * KEYS: head log snapshot, the pieces of the new one. ARGV: epoch, position of the snapshot before, position of the new one, format, time to live in ms.
 *
 * @returns the position of the snapshot that there is now
 */
const COMPACT = `
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

/** Ends a world. KEYS: head log journal order events snapshot dropped. ARGV: reason, channel. @returns 1 if there was one */
const DROP = `
local existed = redis.call('EXISTS', KEYS[1])
redis.call('DEL', unpack(KEYS, 1, 6))
if existed == 1 then
  redis.call('SET', KEYS[7], ARGV[1], 'PX', 60000)
  redis.call('PUBLISH', ARGV[2], '')
end
return existed
`;

/** Each script, with the number of its keys. */
export const SCRIPTS = {
  open: { lua: OPEN, numberOfKeys: 6 },
  sync: { lua: SYNC, numberOfKeys: 7 },
  journal: { lua: JOURNAL, numberOfKeys: 2 },
  clearJournal: { lua: CLEAR_JOURNAL, numberOfKeys: 3 },
  watch: { lua: WATCH, numberOfKeys: 2 },
  compact: { lua: COMPACT, numberOfKeys: 4 },
  drop: { lua: DROP, numberOfKeys: 7 },
} as const;
export type ScriptName = keyof typeof SCRIPTS;
