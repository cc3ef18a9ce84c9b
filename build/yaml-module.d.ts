/** A document that was read when the program was built: see `yaml-modules.ts`. */
declare module '*.yaml' {
  const document: unknown;
  export default document;
  // oxlint-disable-next-line typescript/consistent-type-imports -- with an import, this file would declare no other module
  export const shape: ReturnType<typeof import('../src/scenario/scenario.ts').scenarioShape>;
}
