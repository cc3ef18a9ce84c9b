import { NOW } from './log-scripts.ts';

/** The scripts for what is kept outside the log of a world: its journal, its events, and notes. */

/**
 * Adds records to the journal, unless this call has done so before, and drops the oldest past its limits. A record is `+` and a
 * new exchange, or `=` and the changes of one: the reader of `READ_JOURNAL` puts them together.
 *
 * KEYS: head journal. ARGV: epoch, name of the call, most exchanges, most bytes, time to live in ms; the records.
 */
export const WRITE_JOURNAL = `
local FIRST, NEW = 6, string.byte('+')
local head = redis.call('HMGET', KEYS[1], 'epoch', 'journaled', 'entries', 'bytes', 'evicted')
if head[1] ~= ARGV[1] or head[2] == ARGV[2] then return end
local entries, bytes, evicted = tonumber(head[3]), tonumber(head[4]), tonumber(head[5])
for nth = FIRST, #ARGV do
  if string.byte(ARGV[nth]) == NEW then entries = entries + 1 end
  bytes = bytes + #ARGV[nth]
end
local length = redis.call('RPUSH', KEYS[2], unpack(ARGV, FIRST))
if length == #ARGV - FIRST + 1 then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
while entries > tonumber(ARGV[3]) or bytes > tonumber(ARGV[4]) do
  local oldest = redis.call('LPOP', KEYS[2])
  if not oldest then break end
  bytes = bytes - #oldest
  if string.byte(oldest) == NEW then entries, evicted = entries - 1, evicted + 1 end
end
redis.call('HSET', KEYS[1], 'journaled', ARGV[2], 'entries', entries, 'bytes', bytes, 'evicted', evicted)
`;

/** The journal. KEYS: head journal. @returns {how many older exchanges were dropped, the records} */
export const READ_JOURNAL = `
return {tonumber(redis.call('HGET', KEYS[1], 'evicted') or '0'), redis.call('LRANGE', KEYS[2], 0, -1)}
`;

/** Clears the journal. KEYS: head journal. @returns how many exchanges it had */
export const CLEAR_JOURNAL = `
local entries = redis.call('HGET', KEYS[1], 'entries')
if not entries then return 0 end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'entries', 0, 'bytes', 0, 'evicted', 0)
return tonumber(entries)
`;

/**
 * Publishes events, unless this call has done so before. The oldest are dropped past the limits.
 * KEYS: head events mark. ARGV: epoch, number of the call, channel, server, time to live in ms; for each event its type and its data.
 */
export const PUBLISH = `
local MAX_EVENTS, MAX_BYTES = 1000, 1048576
local head = redis.call('HMGET', KEYS[1], 'epoch', 'eventEpoch', 'eventBytes')
if head[1] ~= ARGV[1] or not head[2] or redis.call('GET', KEYS[3]) == ARGV[2] then return end
redis.call('SET', KEYS[3], ARGV[2], 'PX', 60000)
local bytes = tonumber(head[3])
for nth = 6, #ARGV, 2 do
  redis.call('XADD', KEYS[2], head[2] .. '-*', 't', ARGV[nth], 'd', ARGV[nth + 1])
  bytes = bytes + #ARGV[nth + 1]
end
while redis.call('XLEN', KEYS[2]) > MAX_EVENTS or bytes > MAX_BYTES do
  local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
  bytes = bytes - #oldest[2][4]
  redis.call('XDEL', KEYS[2], oldest[1])
end
redis.call('HSET', KEYS[1], 'eventBytes', bytes)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('PUBLISH', ARGV[3], ARGV[4])
`;

/**
 * Marks the events of a world as being read. Events kept for readers that did not come back in time are dropped, and the
 * numbers start again in a new epoch. KEYS: head events. ARGV: how long the mark holds, in ms.
 *
 * @returns {epoch, how many events it has had}; {} when there is no such world
 */
export const WATCH = `${NOW}
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
 * Replaces a text by another, and drops those past the limits, first the one that was changed longest ago. The new text may
 * already be there, when the reply to an earlier call was lost.
 *
 * KEYS: texts order bytes. ARGV: name, the text before, the new one (empty for none), most texts, their most bytes.
 *
 * @returns 0 when the current text is not the one before
 */
export const CHANGE_NOTE = `
local name, text = ARGV[1], ARGV[3]
local before = redis.call('HGET', KEYS[1], name) or ''
if before == text then return 1 end
if before ~= ARGV[2] then return 0 end
local bytes = redis.call('INCRBY', KEYS[3], #text - #before)
if text == '' then
  redis.call('HDEL', KEYS[1], name)
  redis.call('ZREM', KEYS[2], name)
else
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], name, text)
  redis.call('ZADD', KEYS[2], time[1] * 1000000 + time[2], name)
end
while redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5]) do
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if not oldest or oldest == name then break end
  bytes = redis.call('DECRBY', KEYS[3], redis.call('HSTRLEN', KEYS[1], oldest))
  redis.call('HDEL', KEYS[1], oldest)
  redis.call('ZREM', KEYS[2], oldest)
end
return 1
`;
