// The general mock servers beside which the sandbox is measured: how each is started, as its own documentation says it is
// fastest, and as like the payout API as it can be made. docs/compare.md says what they do not do.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../load.mjs';

const FOLDER = import.meta.dirname;
const file = (...path) => join(FOLDER, ...path);
const program = (...path) => file('node_modules', ...path);
const PRODUCTION = { NODE_ENV: 'production' };

/** The three routes of the service, as the sandbox documents them: more would only be more for Prism to look through. */
async function openApiFile(main, folder) {
  const port = String(await freePort());
  const sandbox = spawn(process.execPath, [main, '--port', port], { stdio: 'ignore' });
  let document;
  try {
    execFileSync(process.execPath, [main, 'health', '--port', port, '--wait', '30s']);
    document = await (await fetch(`http://127.0.0.1:${port}/_sandbox/openapi.json`)).json();
  } finally {
    sandbox.kill();
  }
  document.paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => !path.startsWith('/_sandbox')),
  );
  const path = join(folder, 'openapi.json');
  writeFileSync(path, JSON.stringify(document));
  return path;
}

/** A stand-alone jar, run as WireMock's documentation runs it, so that the processor time read is its own. */
const wireMockJar = (version) => program('wiremock', 'build', `wiremock-standalone-${version}.jar`);

const hasJava = () => spawnSync('java', ['-version']).status === 0;

/**
 * The peers by name and version, and those `missing` something that this machine does not have.
 *
 * @param main the sandbox's program, which serves the document for Prism
 * @param folder where that document is put
 */
export async function peers(main, folder) {
  const { dependencies: versions } = JSON.parse(readFileSync(file('package.json'), 'utf8'));
  const node = (...words) => [process.execPath, ...words.flat()];
  return {
    // Answers with the examples of the document, after it has held the request against it. In production it would fork a
    // second process "for faster log processing"; with the log silent there is nothing to process, and one is enough.
    // https://github.com/stoplightio/prism/blob/master/docs/getting-started/03-cli.md
    [`Prism ${versions['@stoplight/prism-cli']}`]: {
      command: node(
        program('@stoplight', 'prism-cli', 'dist', 'index.js'),
        ['mock', await openApiFile(main, folder), '--port', 'PORT', '--verboseLevel', 'silent'],
        ['--multiprocess=false', '--cors=false'],
      ),
      environment: PRODUCTION,
    },
    // Its log line for each request cannot be turned off; here it goes into a file, as the sandbox's does.
    // https://github.com/mockoon/mockoon/blob/main/packages/cli/README.md
    [`Mockoon ${versions['@mockoon/cli']}`]: {
      command: node(
        program('@mockoon', 'cli', 'bin', 'run.js'),
        ['start', '--data', file('mockoon.json'), '--port', 'PORT', '--disable-log-to-file'],
        ['--disable-admin-api', '--max-transaction-logs', '1'],
      ),
      environment: PRODUCTION,
    },
    // Its own advice for load: connections kept alive, which is in the imposter. An id needs injection.
    // https://www.mbtest.org/docs/commandLine and https://www.mbtest.org/faqs
    [`mountebank ${versions['@mbtest/mountebank']}`]: {
      command: node(
        program('@mbtest', 'mountebank', 'bin', 'mb'),
        ['start', '--configfile', file('mountebank.ejs'), '--pidfile', join(folder, 'mb.pid')],
        ['--host', '127.0.0.1', '--port', String(await freePort()), '--localOnly'],
        ['--nologfile', '--loglevel', 'error', '--allowInjection'],
      ),
      environment: PRODUCTION,
    },
    // From JavaScript its data stays in memory; a JSON file it would write anew at each POST.
    // https://github.com/typicode/json-server/tree/v0.17.4#readme
    [`json-server ${versions['json-server']}`]: {
      command: node(
        program('json-server', 'lib', 'cli', 'bin.js'),
        [file('json-server.cjs'), '--port', 'PORT', '--host', '127.0.0.1', '--id', 'txn_id'],
        ['--routes', file('json-server-routes.json'), '--quiet', '--nc', '--ng'],
      ),
      environment: PRODUCTION,
      created: 201,
    },
    // More threads than there are connections. Asynchronous answers are for those that are delayed: without delays they
    // were slower here, and chunked bodies too.
    // https://wiremock.org/docs/standalone/java-jar/ and https://wiremock.org/docs/configuration/
    [`WireMock ${versions.wiremock}`]: {
      missing: hasJava() ? undefined : 'there is no Java here',
      command: [
        ['java', '-jar', wireMockJar(versions.wiremock), '--root-dir', file('wiremock')],
        ['--port', 'PORT', '--bind-address', '127.0.0.1', '--disable-banner', '--container-threads', '50'],
        ['--disable-request-logging', '--no-request-journal', '--disable-gzip'],
        ['--use-chunked-encoding', 'never'],
      ].flat(),
    },
  };
}
