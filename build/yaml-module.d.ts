/** A document that was read when the program was built: see `yaml-modules.ts`. */
declare module '*.yaml' {
  const document: unknown;
  export default document;
}
