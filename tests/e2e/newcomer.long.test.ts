/** The usual slips of a newcomer, each with the message that gets them out. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import type { ConveyorErrorCode } from "convex-conveyor";
import { isConveyorError, Worker, type WorkerEvent } from "convex-conveyor/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackend } from "../../local/backend.js";
import { api } from "../support/app/convex/_generated/api.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { push } from "../../local/convexCli.js";
import { linkPackages } from "../support/link.js";
import { root } from "../support/paths.js";
import { until } from "../../local/until.js";
import { jobCalls } from "../../src/shared/index.js";

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startApp();
  token = await app.token();
});
afterAll(() => app?.close());

/** The sentence of a refusal that must have this code: programs go by the one, people by the other. */
async function refusal(code: ConveyorErrorCode, slip: () => unknown): Promise<string> {
  const error: unknown = await Promise.resolve()
    .then(slip)
    .then(
      () => expect.fail(`was accepted, wanted ${code}`),
      (reason: unknown) => reason,
    );
  if (!isConveyorError(error, code)) throw error;
  return error.data.message;
}

test("the component is not mounted: the message has the lines to add to convex.config.ts", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "conveyor-unmounted-"));
  const backend = await startBackend({ port: 0, quiet: true });
  try {
    cpSync(path.join(root, "tests/support/app"), folder, {
      recursive: true,
      filter: (source) => !source.includes("node_modules"),
    });
    linkPackages(folder);
    writeFileSync(
      path.join(folder, "convex/convex.config.ts"),
      'import { defineApp } from "convex/server";\nexport default defineApp();\n',
    );
    await push(folder, backend);
    const client = new ConvexHttpClient(backend.url);
    const message = await refusal("componentNotMounted", () =>
      client.mutation(...jobCalls(api.sums).enqueue("sums", { n: 1, workMs: 0 })),
    );
    expect(message).toContain("convex.config.ts");
    expect(message).toContain("app.use(conveyor)");
  } finally {
    await backend.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

test("workerApi is not exported: the worker stops and names the functions to export", async () => {
  const worker = new Worker({
    url: app.url,
    token,
    // TypeScript would refuse this: a module that does not exist on the deployment.
    api: anyApi["nowhere"] as unknown as typeof api.work,
    handlers: { sums: async () => ({ square: 0 }) },
    handleSignals: false,
  });
  const message = await refusal("workerApiMissing", () => worker.run());
  // The platform's words name the missing function; the library's say which functions to export.
  expect(message).toContain("nowhere:");
  expect(message).toContain("conveyor.workerApi({ queues: [...] })");
});

test("a queue is to be served for which the worker has no handler: it says which, before it claims anything", async () => {
  const make = () =>
    new Worker({
      url: app.url,
      token,
      api: api.work,
      queues: ["sums", "races"],
      handlers: { sums: async () => ({ square: 0 }) },
      handleSignals: false,
    });
  const message = await refusal("handlerMissing", make);
  expect(message).toMatch(/the queue "races".* no handler.*it has: sums/);
  expect(message).toContain("Add one to `handlers`");
});

test("a handler for a queue that workerApi does not list: the worker stops and says which are served", async () => {
  const worker = new Worker({
    url: app.url,
    token,
    api: api.work,
    // @ts-expect-error the compiler refuses it as well: there is no such queue in `api.work`
    handlers: { nope: async () => ({ square: 0 }) },
    handleSignals: false,
  });
  const message = await refusal("unknownQueue", () => worker.run());
  expect(message).toMatch(/No queue "nope" is served here; these are: sums, races/);
  expect(message).toContain("conveyor.workerApi");
});

test("a token that names a queue which is not served, as one that is misspelt: the worker says so when it starts", async () => {
  const events: WorkerEvent[] = [];
  const worker = new Worker({
    url: app.url,
    token: await app.token(["sums", "summs"]),
    api: api.work,
    handlers: { sums: async () => ({ square: 0 }) },
    handleSignals: false,
    onEvent: (event) => void events.push(event),
  });
  const running = worker.run();
  await until(
    async () => events,
    (seen) => seen.some(({ kind }) => kind === "queuesNotServed"),
  );
  await worker.stop();
  await running;
  expect(events).toContainEqual({ kind: "queuesNotServed", queues: ["summs"] });
});

test("a module with functions of another release: the worker stops, and names its own release and the one to deploy", async () => {
  const worker = new Worker({
    url: app.url,
    token,
    // It has mutations and queries, and none that a worker needs.
    api: api.sums as unknown as typeof api.work,
    handlers: { sums: async () => ({ square: 0 }) },
    handleSignals: false,
  });
  const message = await refusal("workerApiMissing", () => worker.run());
  expect(message).toContain("sums:watch");
  expect(message).toMatch(/of another release than this worker's, convex-conveyor \d+\.\d+\.\d+/);
  expect(message).toContain("{ claim, complete, heartbeat, report, watch }");
});

test("a token of another deployment: the worker stops and says so", async () => {
  const worker = new Worker({
    url: app.url,
    token: `cvy_00000000_${"0".repeat(64)}`,
    api: api.work,
    handlers: { sums: async () => ({ square: 0 }) },
    handleSignals: false,
  });
  expect(await refusal("tokenForeign", () => worker.run())).toMatch(/another deployment/);
});
