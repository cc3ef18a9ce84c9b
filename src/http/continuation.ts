/** Goes on with a value: at once where it is there, so that most requests need no promise, or when it comes. */
export function goOn<T>(
  value: T | Promise<T>,
  done: (value: T) => void,
  failed: (error: Error) => void,
): void {
  if (!(value instanceof Promise)) return done(value);
  // oxlint-disable-next-line promise/no-callback-in-promise -- done never throws: Fastify catches what comes after it
  value.then(done, failed);
}
