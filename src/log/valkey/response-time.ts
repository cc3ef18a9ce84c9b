/** How long a server waits for a response of its store: to one call, or for one page of a long state. */
export const ANSWER_WITHIN_MS = 800;
