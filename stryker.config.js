/** Mutation testing of the component's guards: `docs/internals/mutation.md` says what it has shown, and of which files. */
export default {
  testRunner: "vitest",
  // The import graph ends where the mock loads the component's modules by a pattern.
  vitest: { configFile: "vitest.component.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Nothing waits for the clock, so only a loop without end may take long: a busy machine is no kill.
  dryRunTimeoutMinutes: 30,
  timeoutMS: 120_000,
  // Validators and constants are read once, as their module loads: a mutant of one would need a process of its own.
  ignoreStatic: true,
  concurrency: 1,
  mutate: ["src/component/**/*.ts", "!src/component/**/*.test.ts"],
  // Messages, names of tables, objects of arguments: no guards.
  mutator: { excludedMutations: ["StringLiteral", "ObjectLiteral"] },
  // The sandbox is a copy of the rest.
  ignorePatterns: [".stryker", "bench", "dist", "docs", "example", "local", "scripts", "tests"],
  tempDirName: ".stryker/tmp",
  reporters: ["progress-append-only", "clear-text", "json"],
  jsonReporter: { fileName: ".stryker/mutation.json" },
  clearTextReporter: { logTests: false, allowColor: false },
  checkers: [],
  allowConsoleColors: false,
};
