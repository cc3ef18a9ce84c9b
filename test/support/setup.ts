// Before each file of tests. The module is loaded once in a worker, so that its state is that of the tests.
import './store/store-times.ts';
