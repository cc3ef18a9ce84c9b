import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { WorldLog } from '../../log/world-log.ts';
import type { Referee } from '../../referee/referee.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import type { AdminCheck, KeyReader } from '../admission.ts';
import type { Waiting } from '../limits/unread-answers.ts';

interface DashboardFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

interface DocsFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** The options of the control API's routes. */
export interface ControlOptions extends Waiting {
  readonly log: WorldLog;
  readonly scenarios: ScenarioLibrary;
  readonly referee: Referee;
  readonly keyOf: KeyReader;
  readonly requireAdmin: AdminCheck;
  readonly version: string;
  readonly isStopping: () => boolean;
  /** Whether the worlds are in a store that cannot be used now. */
  readonly isStoreAway: () => boolean;
  /** The longest snapshot that can be restored. */
  readonly maxStateBytes: number;
  /** All metrics in Prometheus' text format; null when metrics are off. */
  readonly metricsText: (() => Promise<string>) | null;
  /** The OpenAPI document of all routes, as JSON text. */
  readonly openapi: () => Promise<string>;
  /** A file of the page that shows that document; undefined for an unknown name. */
  readonly docsFile: (name: string) => Promise<DocsFile | undefined>;
  /** All files of the dashboard by their path below it; none if it was not built. */
  readonly dashboardFiles: () => ReadonlyMap<string, DashboardFile>;
}

/** Routes of the control API. */
export type ControlRoutes = FastifyPluginAsyncZod<ControlOptions>;
