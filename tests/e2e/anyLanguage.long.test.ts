/** Workers of any language: the conformance script on the Python worker, on the Node worker and on the local backend. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Check } from "../../clients/conformance/messages.js";
import { checkServer } from "../../clients/conformance/serverChecks.js";
import { checkWorker } from "../../clients/conformance/workerChecks.js";
import { pythonEnv, withoutPython } from "../support/python.js";
import { startApp, type TestApp } from "../support/testApp.js";

const NODE = ["--import", "tsx", "clients/conformance/nodeWorker.ts"];
const NAIVE = "clients/conformance/naiveWorker.js";
const broken = (checks: readonly Check[]) => checks.filter(({ isKept }) => !isKept);

describe.skipIf(withoutPython())("the Python worker", () => {
  // Shows C13, L9.
  test("keeps every rule of the protocol where replies are lost, calls refused and leases ended", async () => {
    const args = ["clients/python/conformance_worker.py"];
    const checks = await checkWorker({ command: "python3", args, env: pythonEnv, isQuiet: true });
    expect(broken(checks)).toEqual([]);
    expect(checks.length).toBeGreaterThan(12);
  });
});

describe("the conformance script", () => {
  test("finds that the Node worker keeps every rule, and which rules a naive worker breaks", async () => {
    const command = process.execPath;
    const [node, naive] = await Promise.all([
      checkWorker({ command, args: NODE, isQuiet: true }),
      checkWorker({ command, args: [NAIVE], isQuiet: true, limitMs: 5_000 }),
    ]);
    expect(broken(node)).toEqual([]);
    const found = broken(naive).map(({ rule, detail }) => `${rule}: ${detail}`);
    for (const rule of [
      "each job has its outcome",
      "a claim without a reply is repeated by its number",
      "a call's number is one more than the last",
      "an error for good says so",
      "the session says goodbye",
      "an unknown token ends the process",
      "each call has the header Content-Type: application/json",
    ]) {
      expect(found).toContainEqual(expect.stringContaining(rule));
    }
  });

  describe("on the local backend", () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startApp();
    });
    afterAll(() => app?.close());

    // Shows C26, L9.
    test("finds that each of a worker's calls is answered as the protocol says", async () => {
      const checks = await checkServer({
        url: app.url,
        token: await app.token(),
        module: "work",
        queue: "races",
        enqueue: "races:enqueue",
        payload: { n: 12 },
        result: { square: 144 },
      });
      expect(broken(checks)).toEqual([]);
      expect(checks.length).toBeGreaterThan(16);
    });
  });
});
