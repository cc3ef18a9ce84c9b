import {
  responseText,
  dataOf,
  isAccepted,
  ProbeStopped,
  statusRequest,
  type ProbeRun,
} from './probe-exchange.ts';

/**
 * Level `read`: three GETs. The key is used first, so that a wrong key is not followed by the request without one: services block
 * addresses that send a few of those.
 *
 * @returns the balance in INR
 */
export async function readLevel({ ask, learned, reference }: ProbeRun): Promise<number> {
  const { response: balance } = await ask({
    method: 'GET',
    path: '/client/fetchbalance',
    why: 'is the key accepted, what is the balance, how are times written',
  });
  if (balance.status === 401 || balance.status === 403) {
    throw new ProbeStopped(
      `the key is not accepted (${balance.status}): nothing more was sent, since services block addresses`,
    );
  }
  const { balance: amount } = dataOf(balance);
  if (typeof amount !== 'number' || !(amount >= 0)) {
    const missing = balance.status < 300 ? ', and no number in data.balance' : '';
    throw new ProbeStopped(`the balance cannot be read: ${responseText(balance)}${missing}`);
  }

  const unused = { client_ref_id: reference('unused') };
  const unknown = await ask(statusRequest(unused, 'what does an unknown reference get'));
  const { status } = unknown.response;
  if (isAccepted(unknown.response) || status >= 500) learned.unknown('status.unknown', unknown.evidence);
  else learned.learn('status.unknown', status, unknown.evidence);

  const withoutKey = { ...statusRequest(unused, 'does status need a key'), isKeyless: true };
  const { response, evidence } = await ask(withoutKey);
  if (response.status === 401) learned.learn('status.without_key', 401, evidence);
  else if (response.status === status) learned.learn('status.without_key', 'answered', evidence);
  else learned.unknown('status.without_key', evidence);
  return amount;
}
