/// <reference types="vite/types/importMeta.d.ts" />
import fc from 'fast-check';

fc.configureGlobal({ seed: 7, endOnFailure: true }); // each run draws the same values, so the same mutants survive; none is shrunk

// loaded before any test: a module that a test loads would be taken for code that only this test reaches
import.meta.glob('../../src/{payout,world}/**/*.ts', { eager: true });
