import { configDefaults, defineConfig } from "vitest/config";

/** An app's modules run in contexts of their own. */
const VM_MODULES = ["--experimental-vm-modules", "--no-warnings"];
const LONG = "**/*.long.test.ts";

/** `local`, and `long` for the counts of minutes and for processes that are killed. */
export default defineConfig({
  test: {
    projects: (["local", "long"] as const).map((name) => ({
      test: {
        name,
        // Long ones wait for processes much of the time.
        maxWorkers: name === "long" ? 3 : 2,
        sequence: { groupOrder: name === "long" ? 1 : 0 },
        // Short files share a process: to start one for each would take more time than they do.
        isolate: name === "long",
        environment: "node",
        include: name === "long" ? [LONG] : ["**/*.test.{ts,tsx}"],
        exclude: [...configDefaults.exclude, ...(name === "long" ? [] : [LONG])],
        execArgv: VM_MODULES,
        testTimeout: 60_000,
        hookTimeout: 60_000,
      },
    })),
  },
});
