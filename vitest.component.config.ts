import { defineConfig } from "vitest/config";
import { quickMock } from "./tests/support/quickMock.js";

/** The component's functions on the official mock: a project of `vitest.config.ts`, and all that a mutant is run against. */
export default defineConfig({
  plugins: [quickMock()],
  test: {
    name: "component",
    maxWorkers: 2,
    // They begin sooner than processes.
    pool: "threads",
    isolate: false,
    runner: "./vitest.runner.ts",
    // The bare runtime of the platform is the local backend's: a context of such a runtime here would take a seventh of the time.
    environment: "node",
    include: ["src/{component,client,shared,workpool}/**/*.test.ts"],
    server: { deps: { inline: ["convex-test"] } },
    // Some tests of a thousand jobs take a minute where the machine is busy; none waits for the clock.
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
