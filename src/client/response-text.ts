/** The longest response that a client reads, in MiB: a page of the longest requests has a third of that. */
export const LONGEST_MIB = 64;
/** The longest snapshot, in MiB. */
export const LONGEST_SNAPSHOT_MIB = 512;

/** The body of a response as text. @throws Error for more than `mostMib`, of which no more is read */
export async function textOf(response: Response, mostMib = LONGEST_MIB): Promise<string> {
  const { body, headers, url } = response;
  const most = mostMib * 1024 * 1024;
  if (Number(headers.get('content-length') ?? Infinity) <= most) return response.text(); // it has no more than it says
  const reader = body?.getReader(); // Safari has no `for await` over a stream
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return text + decoder.decode();
    bytes += value!.length;
    if (bytes > most) {
      await reader!.cancel();
      throw new Error(`${url} sends more than ${mostMib} MiB, which is not a response of a sandbox`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
