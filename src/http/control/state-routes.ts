import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { SnapshotText } from '../../contract/control.ts';
import { Refusal } from '../../contract/errors.ts';
import type { WorldState } from '../../world/state-shape.ts';
import type { World } from '../../worlds/world.ts';
import { bodyTooLarge, isEncoded } from '../json-bodies.ts';
import { busy } from '../refusals.ts';
import { operation, act, type ControlRoutes } from '../routes.ts';
import { worldResponse } from './world-responses.ts';

/** The largest snapshot that is read: some 150,000 payouts. */
const MAX_BYTES = 128 * 1024 * 1024;

/** How many snapshots are read at once. */
const MAX_UPLOADS = 4;

const SNAPSHOT_TYPE = 'application/x-ndjson';

/** JSON is accepted too, for clients that can send nothing else: the text is the same. */
const ACCEPTED_TYPES = [SNAPSHOT_TYPE, 'application/json'];

/**
 * The bytes of a body, as they come. Ending the iteration early does not close the connection.
 *
 * @throws Refusal BODY_TOO_LARGE; INVALID_REQUEST for no body; MALFORMED_REQUEST when the client leaves; SANDBOX_BUSY
 */
async function* piecesOf(body: Readable, pressure: { readonly isHigh: boolean }): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > MAX_BYTES) throw bodyTooLarge(MAX_BYTES);
      if (pressure.isHigh) throw busy('SANDBOX_MAX_MEMORY');
      yield piece;
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('MALFORMED_REQUEST');
  }
  if (length === 0) throw noSnapshot();
}

const noSnapshot = (): Refusal =>
  new Refusal('INVALID_REQUEST', { message: 'The body must be a snapshot of a world' });

const otherType = (): Refusal =>
  new Refusal('UNSUPPORTED_MEDIA_TYPE', {
    message: `The request body must be ${ACCEPTED_TYPES.join(' or ')}, in plain UTF-8`,
  });

/** Snapshots of a world: to keep, to restore, to fork. */
export const stateRoutes: ControlRoutes = async (app, options) => {
  const { scenarios, wallClock, heavy } = options;

  app.get(
    '/state',
    operation('State', 'getState', 'A snapshot of this world', { responseType: SNAPSHOT_TYPE }),
    async ({ exchange: { world } }, reply) => {
      const { takeSnapshot } = await import('../../world/snapshot.ts');
      const { snapshotText } = await import('../../worlds/snapshot-text.ts');
      const begin = async () => snapshotText([await world.read(takeSnapshot)]);
      return heavy.sendSnapshot(reply.type(SNAPSHOT_TYPE), world, begin);
    },
  );

  let uploads = 0;

  /** Reads a state without changing the world. @throws Refusal for anything but one whole world; SANDBOX_BUSY */
  async function readState(body: Readable, world: World): Promise<WorldState> {
    uploads += 1;
    try {
      if (uploads > MAX_UPLOADS) throw busy(`${MAX_UPLOADS} snapshots at once`);
      const { refusedSnapshot } = await import('../../world/snapshot.ts');
      const { MAX_LINE, readWorlds } = await import('../../worlds/snapshot-text.ts');
      const reading = { compiler: scenarios, wallClock, maxLine: MAX_LINE };
      let state: WorldState | null = null;
      for await (const read of readWorlds(heavy.taken(world, piecesOf(body, options.pressure)), reading)) {
        if (state !== null)
          throw refusedSnapshot('This snapshot holds more than one world, and only one can be restored');
        state = read.state;
      }
      if (state === null) throw refusedSnapshot('This snapshot holds no world');
      return state;
    } finally {
      uploads -= 1;
      body.resume(); // the rest of a refused body is dropped, so that the connection stays usable
    }
  }

  await app.register(async (streamed) => {
    streamed.removeAllContentTypeParsers();
    streamed.addContentTypeParser(ACCEPTED_TYPES, (request, payload, done) => {
      if (isEncoded(request.headers)) return done(otherType());
      const isTooLong = Number(request.headers['content-length']) > MAX_BYTES;
      return isTooLong ? done(bodyTooLarge(MAX_BYTES)) : done(null, payload);
    });
    streamed.addContentTypeParser('*', (_request, _payload, done) => done(otherType()));
    streamed.put(
      '/state',
      {
        bodyLimit: MAX_BYTES,
        ...operation('State', 'putState', 'Restore a snapshot, of this world or of another', {
          errors: ['STATE_REFUSED', 'SANDBOX_FULL'],
          requestBody: SnapshotText,
          requestType: SNAPSHOT_TYPE,
        }),
      },
      async ({ body, exchange }) => {
        if (body === undefined || body === null) throw noSnapshot();
        const { world } = exchange;
        const state = await readState(body as Readable, world);
        const [source, active] = [state.scenario.source, scenarios.active.source];
        const isActive = !state.scenario.isChosen && isDeepStrictEqual(source, active);
        state.scenario = isActive ? { source: active, isChosen: false } : { source, isChosen: true };
        await act(exchange, { kind: 'restore', state, clock: 'from-snapshot' });
        return world.read(worldResponse);
      },
    );
  });
};
