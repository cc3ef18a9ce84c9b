import type { TransferMode } from '../../contract/service.ts';
import type { LearnedDialect } from './learned-dialect.ts';

export interface ProbeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, string | number>>;
  /** For the one request without a key. */
  readonly isKeyless?: boolean;
  /** What the request is for, in a few words. */
  readonly why: string;
}

export interface ProbeResponse {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: unknown;
}

/** A response, and a line for people with the request and the response. */
export interface Asked {
  readonly response: ProbeResponse;
  readonly evidence: string;
}

/** Sends a request. @throws Error without a response */
export type Send = (request: ProbeRequest) => Promise<ProbeResponse>;

/** The beneficiary of the requests. At level `pay`, this account gets the money. */
export type Beneficiary = Readonly<Record<'name' | 'account' | 'ifsc' | 'upi', string>>;

/** What a POST that was not refused has moved, or may have moved. */
export interface ProbePayout {
  readonly reference: string;
  readonly amount: number;
  /** Whether it was accepted; false when that is unknown. */
  readonly isMade: boolean;
  /** Null when no response has it. */
  readonly txnId: string | null;
  /** The response, or why there was none, in a few words. */
  readonly shown: string;
}

/** What the levels of a probe share. */
export interface ProbeRun {
  /**
   * Sends a request, learns what every response shows, and adds to `payouts` what a POST moved or may have moved.
   *
   * @throws ProbeStopped without a response, at a rate limit, and when it is unknown whether a POST paid
   */
  readonly ask: (request: ProbeRequest) => Promise<Asked>;
  readonly learned: LearnedDialect;
  /** A reference of this probe that no other uses. */
  readonly reference: (kind: string) => string;
  readonly beneficiary: Beneficiary;
  /** Waits before a payout is read again. */
  readonly pause: () => Promise<void>;
  readonly payouts: ProbePayout[];
}

/** Why a probe ends before its level is done. */
export class ProbeStopped extends Error {}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = ({ json }: ProbeResponse): Fields => (isFields(json) ? json : {});

// What became of a POST: a 4xx refuses it, any 2xx accepts it, and after everything else it is unknown whether it paid.
export const isRefused = ({ status }: ProbeResponse): boolean => status >= 400 && status < 500;
export const isAccepted = ({ status }: ProbeResponse): boolean => status >= 200 && status < 300;

/** The field `data` of a success; empty when there is none. */
export function dataOf(response: ProbeResponse): Fields {
  const { data } = fieldsOf(response);
  return isAccepted(response) && isFields(data) ? data : {};
}

export const textIn = (fields: Fields, name: string): string | null => {
  const value = fields[name];
  return typeof value === 'string' ? value : null;
};

const SHOWN = 90;

/** A response in a few words, as evidence. Amounts of a success are left out, since the evidence is kept in a file. */
export function responseText(response: ProbeResponse): string {
  const { status, text } = response;
  if (isAccepted(response)) {
    const data = dataOf(response);
    return [status, textIn(data, 'txn_id'), textIn(data, 'status')].filter((part) => part !== null).join(' ');
  }
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return `${status} without a body`;
  return `${status} ${line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}…`}`;
}

export function requestText({ method, path, body, isKeyless }: ProbeRequest): string {
  const { client_ref_id: reference, amount, transfer_mode: mode } = body ?? {};
  const what = body === undefined ? '' : ` ${reference} ₹${amount} ${mode}`;
  return `${method} ${path}${what}${isKeyless ? ' without a key' : ''}`;
}

export interface PayoutFields {
  readonly reference: string;
  readonly amount: number;
  readonly mode: TransferMode;
  readonly account?: string;
  readonly ifsc?: string;
  readonly more?: Readonly<Record<string, string>>;
}

export const initiateRequest = (
  beneficiary: Beneficiary,
  { reference, amount, mode, account, ifsc, more }: PayoutFields,
  why: string,
): ProbeRequest => ({
  method: 'POST',
  path: '/payout/initiate',
  body: {
    client_ref_id: reference,
    beneficiary_name: beneficiary.name,
    beneficiary_account: account ?? beneficiary.account,
    beneficiary_ifsc: ifsc ?? beneficiary.ifsc,
    amount,
    transfer_mode: mode,
    ...more,
  },
  why,
});

export const statusRequest = (query: Readonly<Record<string, string>>, why: string): ProbeRequest => ({
  method: 'GET',
  path: `/payout/status?${new URLSearchParams(query).toString()}`,
  why,
});
