// Sends each settlement of one world to a URL, as a provider's webhook would: node forward.mjs
const { PAYOUT_URL = 'http://127.0.0.1:3000', PAYOUT_KEY = 'sk_test_demo', WEBHOOK_URL } = process.env;
const headers = { authorization: `Bearer ${PAYOUT_KEY}` };
const events = await fetch(`${PAYOUT_URL}/_sandbox/events`, { headers });
console.log(`sends settlements to ${WEBHOOK_URL}`);
let unread = '';
for await (const text of events.body.pipeThrough(new TextDecoderStream())) {
  const blocks = (unread + text).split('\n\n');
  unread = blocks.pop();
  for (const block of blocks.filter((one) => /^event: settlement$/m.test(one))) {
    const { transaction } = JSON.parse(/^data: (.*)$/m.exec(block)[1]);
    const body = JSON.stringify({ event: `payout.${transaction.status.toLowerCase()}`, payout: transaction });
    await fetch(WEBHOOK_URL, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
}
