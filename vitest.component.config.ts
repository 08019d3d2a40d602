import { defineConfig } from "vitest/config";

/** The component's functions on the official mock: a project of `vitest.config.ts`, and all that a mutant is run against. */
export default defineConfig({
  test: {
    name: "component",
    maxWorkers: 2,
    // They begin sooner than processes.
    pool: "threads",
    isolate: false,
    runner: "./vitest.runner.ts",
    environment: "edge-runtime",
    include: ["src/{component,client,shared,workpool}/**/*.test.ts"],
    server: { deps: { inline: ["convex-test"] } },
    // Some tests of a thousand jobs take a minute where the machine is busy; none waits for the clock.
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
