/** How long a server waits for an answer of its store: to one call, or for one page of a long state. */
export const ANSWER_WITHIN_MS = 800;
