/** How long a server waits for its store, and how often it asks again, in milliseconds. */
export const STORE_TIMES = {
  /** For a response: to one call, or for one page of a long state. */
  answerWithin: 800,
  /** For a call with its repetitions; with the last one, less than 2 s. */
  giveUpAfter: 1200,
  /** A request has ended, and no other command has said so to the other servers: after this, a command of its own does. */
  end: 100,
  /** A settlement is announced by the server of the latest command; the others step in after this. */
  othersWait: 250,
  heartbeat: 1000,
  heartbeatWhileAway: 250,
  /** Between two exchanges of what this server and the list of all worlds know. */
  exchange: 1000,
};
