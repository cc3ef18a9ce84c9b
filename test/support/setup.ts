// Before each file of tests.
import { afterEach } from 'vitest';
import { failOnWrongResponses } from './http/checked-responses.ts';
import { makePatient } from './store/store-times.ts';

makePatient();
afterEach(failOnWrongResponses);
