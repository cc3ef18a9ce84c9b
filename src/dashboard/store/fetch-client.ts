import type { Send } from '../../client/control-client.ts';

type BodyReader = ReadableStreamDefaultReader<Uint8Array> | undefined;

/** Uses a reader, since Safari has no `for await` over a stream. */
async function* piecesOf(reader: BodyReader, cancel: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done) return;
      yield value!;
    }
  } finally {
    cancel();
  }
}

/** Sends a request as a page does. */
export const sendWithFetch: Send = async (url, request) => {
  const response = await fetch(url, request);
  // locked at once: fetch cancels a body that is not read when its Response is garbage-collected
  const reader: BodyReader = response.body?.getReader();
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  const { status, headers } = response;
  return { url: response.url, status, headers, body: piecesOf(reader, cancel), cancel };
};
