import { Redis } from 'iovalkey';
import { inject } from 'vitest';

/** The address of a database that no other test uses: the store itself counts them, since several processes ask. */
export async function freshStore(): Promise<string> {
  const url = inject('storeUrl');
  const client = new Redis(url);
  try {
    return `${url}/${await client.incr('databases given out')}`;
  } finally {
    client.disconnect();
  }
}
