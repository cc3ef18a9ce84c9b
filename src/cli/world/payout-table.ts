import { reasonOf } from '../../client/control-client.ts';
import type { PayoutInput } from '../../client/test-world.ts';
import type { TransactionAnswer, TransactionsAnswer } from '../../contract/control-answers.ts';
import type { TransactionsQuery } from '../../contract/control.ts';
import type { TransferMode } from '../../contract/service.ts';
import { complain, EXIT_FAILED, EXIT_OK } from '../output.ts';
import { istSecond, printable, rupees, stateColour, table } from './readable.ts';
import { show, type Session } from './world-session.ts';
import { amountOf } from './world-changes.ts';

/** What happens to a payout next: its next step, or why there is none. */
function nextText({ timeline, hidden_by: hiddenBy }: TransactionAnswer): string {
  const step = timeline.find(({ done }) => !done);
  const hidden = hiddenBy === null ? '' : `; hidden by ${hiddenBy}`;
  if (step === undefined) return hidden.slice(2);
  const when = step.polls === null ? istSecond(step.at!) : `at status read ${step.polls}`;
  return `${step.to ?? 'UTR'} ${when}${hidden}`;
}

/** `payout-sandbox payouts`: the latest payouts, oldest first. */
export async function showPayouts(
  session: Session,
  query: Pick<TransactionsQuery, 'status' | 'client_ref_id' | 'limit'>,
): Promise<void> {
  const answer = await session.control.get<TransactionsAnswer>('/transactions', {
    ...query,
    order: 'newest',
  });
  const { transactions, next } = answer;
  show(session, answer, () => {
    const rows = transactions
      .toReversed()
      .map((payout) => [
        istSecond(payout.created_at),
        payout.client_ref_id,
        { text: rupees(payout.amount), isRight: true },
        payout.transfer_mode,
        { text: payout.status, colour: stateColour(payout.status) },
        payout.utr ?? '',
        nextText(payout),
        { text: payout.txn_id, colour: 'dim' as const },
      ]);
    if (rows.length === 0) return ['this world has no such payout'];
    const headings = ['created (IST)', 'reference', 'amount', 'mode', 'state', 'UTR', 'next', 'txn_id'];
    return [
      ...table(headings, rows, session.paint),
      ...(next === null ? [] : ['there are older ones: --limit shows more']),
    ];
  });
}

/** The flags of `pay`. */
export interface PayFlags {
  readonly reference?: string;
  readonly mode?: string;
  readonly account?: string;
  readonly ifsc?: string;
  readonly name?: string;
  readonly remarks?: string;
}

const PATIENCE_MS = 30_000;

/** Only the given fields: the library fills in the rest, and the sandbox refuses wrong ones as it would for a client. */
function payoutOf(amount: string | undefined, flags: PayFlags): PayoutInput {
  const fields = {
    client_ref_id: flags.reference,
    amount: amount === undefined ? undefined : amountOf(amount),
    transfer_mode: flags.mode as TransferMode | undefined,
    beneficiary_account: flags.account,
    beneficiary_ifsc: flags.ifsc,
    beneficiary_name: flags.name,
    remarks: flags.remarks,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

interface ServiceBody {
  readonly message?: string;
  readonly code?: string;
  readonly data?: { readonly status: TransactionAnswer['status']; readonly amount: number };
}

/** `payout-sandbox pay AMOUNT`: initiates a payout as a client would. @returns the exit code: 1 unless it was accepted */
export async function pay(session: Session, amount: string | undefined, flags: PayFlags): Promise<number> {
  const { world, paint } = session;
  const payout = payoutOf(amount, flags);
  await world.summary(); // distinguishes a sandbox that is not running from a connection that a rule breaks
  let answer;
  try {
    answer = await world.pay(payout, { signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    const why =
      (error as Error).name === 'TimeoutError'
        ? `no answer within ${PATIENCE_MS / 1000} s`
        : `the connection broke before the answer (${reasonOf(error)})`;
    complain(`${why}; payout-sandbox journal says why, and payouts whether the payout was made`);
    return EXIT_FAILED;
  }
  const { status, headers, body, client_ref_id: reference, txn_id: txnId } = answer;
  const isAccepted = status === 200 && txnId !== null;
  const { data, code, message } = (typeof body === 'object' && body !== null ? body : {}) as ServiceBody;
  show(session, { ...answer, headers: Object.fromEntries(headers) }, () => {
    const state =
      data === undefined ? paint(code ?? '', 'red') : paint(data.status, stateColour(data.status));
    const facts = [
      String(status),
      state,
      printable(reference),
      ...(data === undefined ? [message ?? ''] : [rupees(data.amount), txnId ?? '']),
    ];
    const notes = [
      ['rule', headers.get('x-sandbox-rule')],
      ['warning', headers.get('x-sandbox-warning')],
      ['replayed', headers.get('idempotent-replayed')],
    ].filter(([, value]) => value !== null);
    return [
      facts.filter((fact) => fact !== '').join('  '),
      ...notes.map(([name, value]) => paint(`  ${name}: ${value}`, 'dim')),
    ];
  });
  return isAccepted ? EXIT_OK : EXIT_FAILED;
}
