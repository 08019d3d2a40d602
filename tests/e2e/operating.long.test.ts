/**
 * The commands of docs/guides/operating.md, against a deployment of an app that exports nothing for operators. The official CLI
 * runs each in the deep run, and one of five in CI; the others are sent as it sends them.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { convex } from "../../local/convexCli.js";
import { runAsAdmin } from "../support/deploy.js";
import { root } from "../support/paths.js";
import { Session } from "../support/session.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { api } from "../support/app/convex/_generated/api.js";
import { jobCalls, CHANGE_ARGS, LOOK_ARGS } from "../../src/shared/index.js";

const COMMAND = /`npx convex run --component conveyor ([\w:]+)(?: '([^']*)')?`/g;
const text = readFileSync(path.join(root, "docs/guides/operating.md"), "utf8");
const commands = [...text.matchAll(COMMAND)].map(([, of, args]) => [of!, args ?? "{}"] as const);

/** The answer of each, where the order of the page decides: a job is canceled before it is retried. */
const ANSWERS: Record<string, unknown> = {
  "operate:pauseQueue": { changed: true },
  "operate:drainQueue": { changed: true },
  "operate:resumeQueue": { changed: true },
  "operate:configureQueue": { changed: true },
  "operate:queueState": { inForce: { leaseMs: 60_000 } },
  "operate:resetConfig": { changed: true },
  "lib:workers": [{ name: "gpu" }],
  "operate:quietWorker": { changed: true },
  "operate:resumeWorker": { changed: true },
  "operate:pauseJob": { changed: true, paused: true },
  "operate:resumeJob": { changed: true, paused: false },
  "operate:cancelJob": { canceled: true },
  "operate:retryJob": { retried: true },
  "operate:deleteJob": { deleted: true },
  "operate:cancelMany": { changed: 0, isDone: true },
  "operate:retryMany": { changed: 0, isDone: true },
  "operate:deleteMany": { changed: 0, isDone: true },
  "operate:taskState": null,
  "operate:stopTask": { stopped: false },
  "operate:createToken": { token: expect.stringMatching(/^cvy_/) },
  "operate:listTokens": [{ name: "gpu-1" }, { name: "test" }],
  "operate:rotateToken": { token: expect.stringMatching(/^cvy_/) },
  "operate:revokeToken": null,
};

/** In CI one of so many commands is a process of the CLI, which takes two seconds. */
const BY_CLI = counts(5, 1);

describe.sequential("npx convex run --component conveyor", () => {
  const folder = path.join(root, "tests/support/app");
  let app: TestApp;
  let job = "";
  let token = "";
  let worker = "";
  let calls = 0;

  beforeAll(async () => {
    app = await startApp();
    job = (await app.client.mutation(...jobCalls(api.hot).enqueueMany("hot", [{ n: 1 }])))[0]!;
    await new Session(app.url, await app.token(), "gpu").claim(1);
  }, 120_000);
  afterAll(() => app.close());

  const run = async (of: string, args: string): Promise<unknown> => {
    const given = args
      .replaceAll("emails", "hot")
      .replace("JOB", job)
      .replace("TOKEN", token)
      .replace("WORKER", worker);
    if (calls++ % BY_CLI !== 0)
      return await runAsAdmin(app.backend, of, JSON.parse(given) as object, "conveyor");
    const call = ["run", "--component", "conveyor", of, given];
    return JSON.parse((await convex(folder, call, app.backend)).trim() || "null");
  };

  // Shows M1.
  test("the page has a command for every operation", () => {
    const named = new Set(commands.map(([of]) => of));
    const all = Object.keys({ ...CHANGE_ARGS, ...LOOK_ARGS }).map((name) => `operate:${name}`);
    expect(all.filter((name) => !named.has(name))).toEqual([]);
  });

  test.each(commands)(
    "%s %s",
    async (of, args) => {
      const answer = await run(of, args);
      if (of in ANSWERS) {
        const wanted = ANSWERS[of];
        if (typeof wanted === "object" && wanted !== null) expect(answer).toMatchObject(wanted);
        else expect(answer).toBe(wanted);
      } else expect(answer).not.toBeNull();
      if (of === "lib:workers") worker = (answer as { id: string }[])[0]!.id;
      if (of === "operate:createToken") token = (answer as { id: string }).id;
    },
    60_000,
  );

  test.each([
    ["operate:pauseQueue", '{"queue":"nobody"}', "No code has declared a queue"],
    ["operate:cancelJob", '{"id":"nonsense"}', "unknownJob"],
    ["operate:revokeToken", '{"id":"nonsense"}', "List the tokens to find it"],
    ["operate:configureQueue", '{"queue":"hot","overrides":{"leaseMs":1}}', "leaseMs"],
    ["operate:pauseQueue", "{}", "queue"],
  ])(
    "%s %s is refused with the way out",
    async (of, args, words) => {
      await expect(run(of, args)).rejects.toThrow(words);
    },
    60_000,
  );
});
