import { configDefaults, defineConfig } from "vitest/config";

/** The local backend runs an app's modules in contexts of their own. */
const VM_MODULES = ["--experimental-vm-modules", "--no-warnings"];

/** Vitest leaves one of them idle by itself. */
const BOTH_CORES = 2;

/**
 * A file's name says that it takes long, and its folder whether it may run beside others: what waits for real processes or
 * browsers is in `tests/e2e`, and the simulation keeps both cores busy by itself. `tests/tidy.test.ts` holds that each file runs
 * once.
 */
const LONG = "**/*.long.test.ts";
const ALONE = {
  short: "tests/e2e/**/*.test.ts",
  long: ["tests/e2e/**/*.long.test.ts", "tests/simulation/simulation.long.test.ts"],
};

/** Planted bugs need no build: after a change of the sources these tests fail within seconds. */
const PLANTED = "tests/planted/*.test.ts";

/** What computes, or runs in virtual time: on both cores. */
const COMPUTES = {
  environment: "node",
  maxWorkers: BOTH_CORES,
  globalSetup: ["scripts/support/build.ts"],
  execArgv: VM_MODULES,
  sequence: { groupOrder: 1 },
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** One file at a time, after all else: its time limits are those of leases, and two cores are few. */
const STARTS_PROCESSES = {
  environment: "node",
  fileParallelism: false,
  globalSetup: ["scripts/support/build.ts"],
  execArgv: VM_MODULES,
  sequence: { groupOrder: 2 },
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/**
 * One configuration, a project for each environment: the component's functions, Node, React. After them comes what needs a
 * whole backend (`system`), and last what starts processes (`e2e`). `long` and `longProcesses` are the same two for long tests,
 * each of which is shown in the small by something quicker.
 */
export default defineConfig({
  test: {
    projects: [
      "./vitest.component.config.ts",
      {
        test: {
          name: "node",
          maxWorkers: BOTH_CORES,
          isolate: false,
          runner: "./vitest.runner.ts",
          environment: "node",
          include: [
            "src/{cli,lane,worker}/**/*.test.ts",
            "example/{worker,convex,start}/**/*.test.ts",
            "bench/**/*.test.ts",
            PLANTED,
          ],
          exclude: [...configDefaults.exclude, LONG],
          execArgv: VM_MODULES,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "react",
          maxWorkers: BOTH_CORES,
          isolate: false,
          runner: "./vitest.runner.ts",
          environment: "jsdom",
          include: ["{src/react,src/dashboard,example/src}/**/*.test.{ts,tsx}"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...COMPUTES,
          name: "system",
          isolate: false,
          runner: "./vitest.runner.ts",
          include: ["tests/**/*.test.ts"],
          exclude: [...configDefaults.exclude, LONG, ALONE.short, PLANTED],
        },
      },
      {
        test: {
          ...COMPUTES,
          name: "long",
          include: ["{bench,tests}/**/*.long.test.ts"],
          exclude: [...configDefaults.exclude, ...ALONE.long],
        },
      },
      {
        test: {
          ...STARTS_PROCESSES,
          name: "e2e",
          include: [ALONE.short],
          exclude: [...configDefaults.exclude, LONG],
        },
      },
      {
        test: {
          ...STARTS_PROCESSES,
          name: "longProcesses",
          include: ALONE.long,
        },
      },
    ],
  },
});
