/** Somebody's own handlers in place of those that do nothing but wait: `docs/testing.md` says how. */
import path from "node:path";
import type { Replacement } from "./deployment.js";

export function ownHandlers(file: string): Replacement {
  return {
    file: "../tests/simulation/app/own.ts",
    text: `export const handle: ((attempt: Attempt, tools: Tools) => Promise<void>) | null = null;`,
    by: `export { handle } from ${JSON.stringify(path.resolve(file))};`,
  };
}
