import { reasonOf } from '../../client/control-client.ts';
import { learnShape } from './response-shape.ts';
import { LearnedDialect } from './learned-dialect.ts';
import { payLevel } from './pay-level.ts';
import {
  dataOf,
  isAccepted,
  isRefused,
  responseText,
  ProbeStopped,
  requestText,
  textIn,
  type Asked,
  type Beneficiary,
  type ProbeResponse,
  type ProbeRequest,
  type Send,
  type ProbePayout,
} from './probe-exchange.ts';
import { readLevel } from './read-level.ts';
import { refusedLevel } from './refused-level.ts';

export type Level = 'read' | 'refused' | 'pay';

export interface ProbeOptions {
  readonly level: Level;
  readonly send: Send;
  /** Part of every reference, so that no two probes share one. */
  readonly runId: string;
  readonly beneficiary: Beneficiary;
  readonly pause: () => Promise<void>;
  /** Called with each request and its response. */
  readonly asked: (request: ProbeRequest, response: ProbeResponse) => void;
}

export interface ProbeResult {
  readonly learned: LearnedDialect;
  readonly payouts: readonly ProbePayout[];
  readonly requests: number;
  /** Why it ended before its level was done; null when it was done. */
  readonly stopped: string | null;
}

/** Sends requests to a service, and learns its dialect from the responses. */
export async function probe({ level, send, runId, asked, ...given }: ProbeOptions): Promise<ProbeResult> {
  const learned = new LearnedDialect();
  const payouts: ProbePayout[] = [];
  let requests = 0;
  /** Adds what a POST moved or may have moved. */
  const addPayout = (request: ProbeRequest, response: ProbeResponse | null, shown: string): void => {
    if (request.body === undefined || (response !== null && isRefused(response))) return;
    const { client_ref_id: reference, amount } = request.body;
    const isMade = response !== null && isAccepted(response);
    const txnId = isMade ? textIn(dataOf(response), 'txn_id') : null;
    if (txnId !== null && payouts.some((payout) => payout.txnId === txnId)) return; // a replay
    payouts.push({ reference: String(reference), amount: Number(amount), isMade, txnId, shown });
    if (!isMade) throw new ProbeStopped(`it is unknown whether it paid: ${requestText(request)}: ${shown}`);
  };
  const ask = async (request: ProbeRequest): Promise<Asked> => {
    requests += 1;
    let response: ProbeResponse;
    try {
      response = await send(request);
    } catch (error) {
      const why = reasonOf(error);
      addPayout(request, null, `no response (${why})`);
      throw new ProbeStopped(`no response to ${requestText(request)} (${why})`, { cause: error });
    }
    asked(request, response);
    const shown = responseText(response);
    const evidence = `${requestText(request)}: ${shown}`;
    learnShape(response, learned, evidence);
    addPayout(request, response, shown);
    if (response.status === 429) throw new ProbeStopped(`a rate limit was reached: ${evidence}`);
    return { response, evidence };
  };
  const reference = (kind: string): string => `probe-${runId}-${kind}`;
  const run = { ...given, ask, learned, reference, payouts };
  const ended = (stopped: string | null): ProbeResult => ({ learned, payouts, requests, stopped });
  try {
    const balance = await readLevel(run);
    if (level === 'read') return ended(null);
    const refused = await refusedLevel(run, balance);
    if (level === 'pay') await payLevel(run, balance, refused);
    return ended(null);
  } catch (error) {
    if (error instanceof ProbeStopped) return ended(error.message);
    throw error;
  }
}
