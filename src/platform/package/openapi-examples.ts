import { readFile } from 'node:fs/promises';
import { packageFile } from '../../package-files.ts';

/** The examples of the OpenAPI document: in a file of their own, since a start would only read past them. */
export const openapiExamples = async (): Promise<unknown> =>
  JSON.parse(await readFile(packageFile('fixtures/openapi-examples.json'), 'utf8'));
