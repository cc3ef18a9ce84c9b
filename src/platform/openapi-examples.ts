import { readFile } from 'node:fs/promises';
import type { Examples } from '../http/openapi/examples.ts';
import { packageFile } from '../package-files.ts';

/** The examples of the OpenAPI document: in a file of their own, since a start would only read past them. */
export const openapiExamples = async (): Promise<Examples> =>
  JSON.parse(await readFile(packageFile('fixtures/openapi-examples.json'), 'utf8')) as Examples;
