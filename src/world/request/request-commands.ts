import { z } from 'zod';
import { InitiateRequest, StatusQuery } from '../../contract/service.ts';
import { ScenarioSource } from '../../contract/snapshot-lines.ts';

/** What every request of the service carries. */
const Asked = {
  /** Without those that hold a key. */
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())]).optional()),
  /** The scenario that the header of this request chose; null for the world's. */
  scenario: ScenarioSource.nullable(),
};

/** The commands that are requests of the service. */
export const REQUEST_COMMANDS = [
  z.strictObject({ kind: z.literal('initiate'), body: InitiateRequest, ...Asked }),
  z.strictObject({ kind: z.literal('status'), query: StatusQuery, ...Asked }),
  z.strictObject({ kind: z.literal('balance'), ...Asked }),
] as const;

export type RequestCommand = z.infer<(typeof REQUEST_COMMANDS)[number]>;
