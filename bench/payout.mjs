/** The body of a payout with this reference. */
export const payoutOf = (reference, amount = 1) => ({
  client_ref_id: reference,
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount,
  transfer_mode: 'IMPS',
});
