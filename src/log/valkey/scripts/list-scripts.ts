/** The scripts for what lies outside the worlds: the list of them, and notes. */

/**
 * Notes when worlds were used, and what they hold, and returns what the list knows of them. A world that is not listed stays so:
 * it may have been dropped. What a later command has made of a world is not replaced by what an earlier one has.
 *
 * KEYS: used held total. ARGV: for each world its id, when it was used in ms, its epoch, position and records.
 *
 * @returns {how many worlds are listed, how many records they hold, for each world `EPOCH POSITION RECORDS`, or empty}
 */
export const EXCHANGE = `
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
return {redis.call('ZCARD', KEYS[1]), tonumber(redis.call('GET', KEYS[3]) or '0'), listed}
`;

/** Removes a world from the list. KEYS: used held total. ARGV: its id. */
export const UNLIST = `
local held = redis.call('HGET', KEYS[2], ARGV[1])
if held then
  redis.call('DECRBY', KEYS[3], string.match(held, '(%d+)$'))
  redis.call('HDEL', KEYS[2], ARGV[1])
end
redis.call('ZREM', KEYS[1], ARGV[1])
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
