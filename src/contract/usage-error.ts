/** What somebody asked for cannot be done, for a reason in what they gave. The message is for them: a line for each problem. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}
