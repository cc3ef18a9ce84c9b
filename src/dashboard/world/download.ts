/** How long a browser may take to begin to save. */
const SAVING_MS = 60_000;

/** Saves a file of the user. @param content a text has a type, a blob has its own */
export function download(name: string, content: Blob | string, type = 'text/plain'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVING_MS); // some browsers lose a large file that is revoked at once
}
