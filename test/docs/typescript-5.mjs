// openapi-typescript writes its output with the JavaScript API of the compiler, which TypeScript 7 does not have any more:
// started with `node --import` of this file, it is given TypeScript 5 in its place.
import { register } from 'node:module';

const hook = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
