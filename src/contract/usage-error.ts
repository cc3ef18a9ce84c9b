/**
 * What somebody asked for cannot be done, for a reason in what they gave. The message is for them: a line for each problem. Most of
 * `cli`, `actions` and `trials` may throw it, and say so only where it matters: the command line prints it and ends with 2.
 */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'no such file or folder',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'part of its path is not a folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** Why the operating system refused a file, in words where we have some, otherwise its code. */
export function systemReason(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? code;
}

/** The text in a file; undefined for one that is not text in UTF-8, since replacing its broken bytes would change its content. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    return bytes.includes(0) ? undefined : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Why a file cannot be read, for the messages of all commands. */
export function unreadable(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EISDIR'
    ? `${file} is a folder, not a file`
    : `${file} cannot be read (${systemReason(error)})`;
}
