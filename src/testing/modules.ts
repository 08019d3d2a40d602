/**
 * The component's modules, for `registerComponent`. Here each is loaded when it is first asked for, as this repository's own tests
 * want it; `npm run build` puts one file of all of them in this one's place (`scripts/support/testBuild.ts`).
 */
/// <reference types="vite/client" />
export const modules: Record<string, () => Promise<any>> = import.meta.glob([
  "../component/**/*.ts",
  "!../component/**/*.test.ts",
]);
