import schema from 'payout-sandbox/schema' with { type: 'json' }; // which node16 does not know
import './module.ts';

const type: string = schema.properties.rules.type;
if (type !== 'array') throw new Error(type);
