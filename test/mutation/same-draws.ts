import fc from 'fast-check';

fc.configureGlobal({ seed: 7 }); // a mutant is killed or survives by the same draws each time
