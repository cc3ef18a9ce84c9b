// The data of json-server. From a file of JavaScript it is kept in memory; a JSON file would be written anew at each POST.
module.exports = () => ({
  payouts: [],
  balance: {
    status: 'success',
    data: { balance: 1000000, currency: 'INR', last_updated: '2026-01-15T04:30:00.000Z' },
  },
});
