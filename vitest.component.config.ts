import { configDefaults, defineConfig, type TestUserConfig } from "vitest/config";

const PLACE = "src/{component,client,shared,workpool}/**";

/** What the component's short and long tests have in common. */
const BOTH: TestUserConfig = {
  maxWorkers: 2,
  // They begin sooner than processes.
  pool: "threads",
  isolate: false,
  runner: "./vitest.runner.ts",
  // The bare runtime of the platform is the local backend's: a context of such a runtime here would take a seventh of the time.
  environment: "node",
  // Some tests of a thousand jobs take a minute where the machine is busy; none waits for the clock.
  testTimeout: 180_000,
  hookTimeout: 60_000,
};

/** The long ones: a project of `vitest.config.ts`, beside the other long tests. */
export const longComponent = defineConfig({
  test: {
    ...BOTH,
    name: "longComponent",
    include: [`${PLACE}/*.long.test.ts`],
    maxWorkers: 3,
    sequence: { groupOrder: 2 },
  },
});

/** The component's functions on the official mock: a project of `vitest.config.ts`, and all that a mutant is run against. */
export default defineConfig({
  test: {
    ...BOTH,
    name: "component",
    include: [`${PLACE}/*.test.ts`],
    exclude: [...configDefaults.exclude, `${PLACE}/*.long.test.ts`],
  },
});
