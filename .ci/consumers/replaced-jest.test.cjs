require('./replaced.cjs').define(test, jest);
