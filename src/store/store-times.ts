/** How long a server waits for its store, and how often it asks again, in milliseconds. */
export const STORE_TIMES = {
  /** For a response to one call. */
  answerWithin: 1500,
  /** After this, ends of requests that no other command has carried are sent by themselves. */
  end: 100,
  /** How often a server asks for the worlds in which somebody waits for what happens. */
  listen: 200,
  heartbeat: 1000,
  heartbeatWhileAway: 250,
};
