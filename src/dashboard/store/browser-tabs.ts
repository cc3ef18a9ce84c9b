/** What the tabs of a browser that show the same world tell each other. */
export interface Tabs {
  /**
   * Reads whenever it is this tab's turn: while it is visible and no other tab reads. A turn ends when its signal aborts.
   *
   * @param over ends everything
   */
  takeTurns(over: AbortSignal, read: (turn: AbortSignal) => Promise<void>): Promise<void>;
  /** Sends a message to the other tabs. */
  say(message: unknown): void;
  /** @param hear gets the messages of the other tabs, and `undefined` when one of them wants to know how things stand */
  listen(hear: (message: unknown) => void): void;
}

/**
 * The tabs of this browser: one of them reads, and the others hear from it, since a browser opens only six connections to a
 * server. Hidden tabs neither read nor hear. Browsers without locks, as on a page without HTTPS, read in each visible tab.
 *
 * @param name of what is read
 */
export function browserTabs(name: string): Tabs {
  const channel = new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin
  const say = (message: unknown): void => channel.postMessage(message);
  const locks = (navigator as { readonly locks?: LockManager }).locks;
  return {
    say,
    listen: (hear) => {
      channel.addEventListener('message', ({ data }) => document.hidden || hear(data));
    },
    async takeTurns(over, read) {
      while (!over.aborted) {
        const ending = new AbortController(); // when the visibility of this tab changes, or at the end
        const turn = ending.signal;
        const end = (): void => ending.abort();
        document.addEventListener('visibilitychange', end, { signal: turn });
        over.addEventListener('abort', end, { signal: turn });
        if (document.hidden) {
          await new Promise((resolve) => turn.addEventListener('abort', resolve));
          continue;
        }
        say(undefined);
        try {
          await (locks === undefined ? read(turn) : locks.request(name, { signal: turn }, () => read(turn)));
        } catch (error) {
          if (!turn.aborted) throw error; // a tab that is hidden no longer waits for its turn
        }
      }
      channel.close();
    },
  };
}
