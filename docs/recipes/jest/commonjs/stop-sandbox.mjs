export default () => globalThis.sandbox.close();
