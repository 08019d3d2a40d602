import { configDefaults, defineConfig } from "vitest/config";
import { longComponent } from "./vitest.component.config.js";
import LongestFirst from "./vitest.sequencer.js";

/** The local backend runs an app's modules in contexts of their own. */
const VM_MODULES = ["--experimental-vm-modules", "--no-warnings"];

/** Vitest leaves one of them idle by itself. */
const BOTH_CORES = 2;

/**
 * A file's name says that it takes long. The files that run alone have the time limits of leases, measure themselves at full
 * speed, or keep both cores busy, as the simulation and a browser under load do. `tests/tidy.test.ts` holds that each file runs
 * once.
 */
const LONG = "**/*.long.test.ts";
const E2E = "tests/e2e/**/*.test.ts";
const ALONE = [
  "tests/e2e/{anywhere,chaos,harmful,hotWorker,leases,once,stopping,tabWorker}.long.test.ts",
  "tests/e2e/dashboard{Actions,Large,Views}.long.test.ts",
  "tests/simulation/simulation.long.test.ts",
];

/** Planted bugs need no build: after a change of the sources these tests fail within seconds. */
const PLANTED = "tests/planted/*.test.ts";

/** The platform's mock refuses this by an error that no code can catch. The platform lets such a function end. */
const CANCELED_MEANWHILE = "scheduled function state after it finished running: canceled";

/** What needs a whole backend. */
const SYSTEM = {
  environment: "node",
  globalSetup: ["scripts/support/build.ts"],
  execArgv: VM_MODULES,
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** Two files at a time, whether they compute or wait for processes and browsers. */
const ON_BOTH_CORES = { ...SYSTEM, maxWorkers: BOTH_CORES, sequence: { groupOrder: 1 } };

/** Short files share a process. Each long one has its own: the worlds of a hundred of them do not fit into one heap. */
const SHARED = { ...ON_BOTH_CORES, isolate: false, runner: "./vitest.runner.ts" };

/** Their time is virtual, or bounded by the tests themselves: a busy machine may take three times as long. */
const LONGER = { testTimeout: 180_000 };

/** A third of the long ones wait for processes and browsers most of the time, and leave a core to others. */
const MORE_THAN_CORES = {
  ...SYSTEM,
  ...LONGER,
  maxWorkers: BOTH_CORES + 1,
  sequence: { groupOrder: 2 },
};

/** One file at a time, after all else. */
const BY_ITSELF = { ...SYSTEM, ...LONGER, fileParallelism: false, sequence: { groupOrder: 3 } };

/**
 * One configuration, a project for each environment: the component's functions, Node, React. After them comes what needs a
 * whole backend (`system`), with what starts processes (`e2e`). `long`, `longComponent` and `longProcesses` are long tests,
 * each of which is shown in the small by something quicker; the last run alone.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    onUnhandledError: ({ message }) => !String(message).includes(CANCELED_MEANWHILE),
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
          ...SHARED,
          name: "system",
          include: ["tests/**/*.test.ts"],
          exclude: [...configDefaults.exclude, LONG, E2E, PLANTED],
        },
      },
      {
        test: {
          ...SHARED,
          name: "e2e",
          include: [E2E],
          exclude: [...configDefaults.exclude, LONG],
        },
      },
      {
        test: {
          ...MORE_THAN_CORES,
          name: "long",
          include: ["{bench,tests}/**/*.long.test.ts"],
          exclude: [...configDefaults.exclude, ...ALONE],
        },
      },
      longComponent,
      {
        test: {
          ...BY_ITSELF,
          name: "longProcesses",
          include: ALONE,
        },
      },
    ],
  },
});
