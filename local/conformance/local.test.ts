/** The cases on the local backend: in this process, on the wall clock, with the app pushed by the official CLI. */
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { push } from "../convexCli.js";
import { startBackend, type Backend } from "../backend.js";
import { CASES } from "./cases/index.js";
import { testCases } from "./run.js";
import { WireTarget } from "./wire.js";

let backend: Backend;
let target: WireTarget;

beforeAll(async () => {
  // More than the platform's second, so that a busy machine reaches the limits that are counted.
  const runner = { isolation: "threads", userTimeMs: 4_000 } as const;
  backend = await startBackend({ port: 0, quiet: true, runner });
  await push(path.join(import.meta.dirname, "app"), backend);
  target = new WireTarget(backend, backend);
}, 90_000);

afterAll(async () => {
  await backend?.close();
});

testCases(CASES, {
  target: () => target,
  concurrent: true,
  skips: () => null,
  fails: ({ fails }) => fails ?? null,
});
