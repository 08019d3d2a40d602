import { configDefaults, defineConfig } from "vitest/config";

/** The local backend runs an app's modules in contexts of their own. */
const VM_MODULES = ["--experimental-vm-modules", "--no-warnings"];

/** Vitest leaves one of them idle by itself. */
const BOTH_CORES = 2;

/** It starts processes, and waits for no lease to end: it may run beside others. */
const UNHURRIED = "tests/e2e/readme.test.ts";

/**
 * What takes longest, and is shown in the small by something quicker: it runs with the long tests, so that `npm test` stays
 * under five minutes on two cores. First what computes, or runs in virtual time: on both cores.
 */
const LONG_COMPUTING = [
  "tests/packages/**/*.test.ts",
  "tests/races/*.test.ts",
  "tests/model/*.test.ts",
  "tests/virtual/{cancelsAtOnce,cost,deploys,ghosts,handlers,history,hotRow,laneCrashes,largeQueue}.test.ts",
  "tests/virtual/{looks,lostTimers,manyQueues,manyStreams,mayTake,oldLooks,othersJobs,processes,queueLimits}.test.ts",
  "tests/virtual/{pullQueues,pushCost,queue,queueRemains,rare,sameInstant,statistics,storm,worstToken}.test.ts",
  "tests/simulation/ownHandlers.test.ts",
];
const LONG = ["tests/e2e/{badInput,dashboard,leases,newcomer,once,operating,stopping}.test.ts"];
const SYSTEM = [
  "tests/{bounds,interleavings,model,packages,races,simulation,types,upgrade,virtual}/**/*.test.ts",
  UNHURRIED,
];
/** What computes, and backends whose clients wait for no lease to end: on both cores, beside each other. */
const DEEP_COMPUTING = [
  "tests/deep/{batches,bounds,claims,interleavings,model,pull,push,pushRestarts,pushSlots,races}.test.ts",
  "tests/deep/{nested,schedule,virtualQueue}.test.ts",
];

/**
 * One configuration, a project for each environment: the component's functions, Node, React. After them comes what needs a
 * whole backend (`system`, and `deep` for the long counts), and last, one file at a time, what starts processes (`e2e`, and
 * `deepProcesses`, also for the browser): its time limits are those of leases, and two cores are few.
 */
export default defineConfig({
  test: {
    projects: [
      "./vitest.component.config.ts",
      {
        test: {
          name: "node",
          maxWorkers: BOTH_CORES,
          environment: "node",
          include: [
            "src/{cli,lane,worker}/**/*.test.ts",
            "example/{worker,convex,start}/**/*.test.ts",
            "bench/**/*.test.ts",
          ],
          exclude: [...configDefaults.exclude, ...LONG_COMPUTING, ...LONG],
          execArgv: VM_MODULES,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "react",
          maxWorkers: BOTH_CORES,
          environment: "jsdom",
          include: ["{src/react,src/dashboard,example/src}/**/*.test.{ts,tsx}"],
          testTimeout: 30_000,
        },
      },
      ...(["system", "deep"] as const).map((name) => ({
        test: {
          name,
          maxWorkers: BOTH_CORES,
          environment: "node",
          include: name === "deep" ? [...DEEP_COMPUTING, ...LONG_COMPUTING] : SYSTEM,
          exclude: [
            ...configDefaults.exclude,
            ...(name === "deep" ? [] : [...LONG_COMPUTING, ...LONG]),
          ],
          globalSetup: ["harness/build.ts"],
          execArgv: VM_MODULES,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      })),
      ...(["e2e", "deepProcesses"] as const).map((name) => ({
        test: {
          name,
          environment: "node",
          include:
            name === "deepProcesses"
              ? ["tests/deep/**/*.test.ts", ...LONG]
              : ["tests/*.test.ts", "tests/e2e/**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            UNHURRIED,
            ...(name === "deepProcesses" ? DEEP_COMPUTING : LONG),
          ],
          globalSetup: ["harness/build.ts"],
          execArgv: VM_MODULES,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      })),
    ],
  },
});
