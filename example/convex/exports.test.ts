/** How many of this app's exports come from Conveyor, among the app's own functions and handlers. */
/// <reference types="vite/client" />
import { expect, test, vi } from "vitest";

/** From its source: unit tests do not wait for a build. */
vi.mock("convex-conveyor", () => import("../../src/client/index.js"));
vi.hoisted(() => vi.resetModules());

const modules = import.meta.glob<Record<string, unknown>>(
  ["./**/*.ts", "!./**/*.test.ts", "!./{_generated/**,convex.config.ts}"],
  { eager: true },
);
const sources = import.meta.glob<string>(
  ["./**/*.ts", "!./**/*.test.ts", "!./{_generated/**,convex.config.ts}"],
  {
    eager: true,
    query: "?raw",
    import: "default",
  },
);

const OWN = /^(query|mutation|action|internal\w+|\w+\.(action|mutation|query|inline|completed))\(/;

test("an app has at most 20 names of Conveyor's: pages, workers, tokens and the dashboard together", () => {
  const named = Object.entries(modules).flatMap(([file, module]) =>
    Object.entries(module)
      .filter(([, value]) => isRegistered(value))
      .filter(([name]) => !isOwn(sources[file]!, name))
      .map(([name]) => `${file.slice(2, -3)}:${name}`),
  );
  expect(named.sort()).toEqual([
    "dashboard:read",
    "dashboard:write",
    "jobs:status",
    ...["claim", "complete", "create", "heartbeat", "list", "report", "revoke", "watch"].map(
      (name) => `workers:${name}`,
    ),
  ]);
  const allOfPages = 8 - named.filter((name) => name.startsWith("jobs:")).length;
  expect(named.length + allOfPages).toBeLessThanOrEqual(20);
});

function isRegistered(value: unknown): boolean {
  const made = value as { isQuery?: true; isMutation?: true; isAction?: true; isHttp?: true };
  return made.isQuery ?? made.isMutation ?? made.isAction ?? made.isHttp ?? false;
}

/** Whether the module itself declares it, by a builder or as a queue's handler. */
function isOwn(source: string, name: string): boolean {
  const [, declared = ""] = source.split(`export const ${name} = `);
  return OWN.test(declared);
}
