// Before each file of tests.
import { makePatient } from './store/store-times.ts';

makePatient();
