/** The contents of jobs leave the server only through the app's `show`. */
import type { GenericDatabaseWriter } from "convex/server";
import { describe, expect, test } from "vitest";
import { asApp, fill, newApp, options, read, secret, type Jobs } from "./dashboardSetup.test.js";
import type { DashboardValue } from "./dashboardTypes.js";
import { tiles, type App } from "./setup.test.js";

const queue = "tiles";

/** All that the dashboard's queries say of the jobs of a queue. */
async function allOf(t: App, { other: _other, ...jobs }: Jobs): Promise<unknown[]> {
  const said: unknown[] = [await t.query(...read({ kind: "events", queue })), await listed(t)];
  for (const id of Object.values(jobs)) {
    said.push(await t.query(...read({ kind: "job", queue, id })));
    said.push(await t.query(...read({ kind: "why", queue, id })));
    said.push(await t.query(...read({ kind: "logs", queue, id })));
    said.push(await t.query(...read({ kind: "output", queue, id })));
  }
  return said;
}

async function listed(t: App) {
  const paginationOpts = { numItems: 100, cursor: null };
  const [list, args] = read({ kind: "list", queue, filter: {}, order: "next" });
  return (await t.query(list, { ...args, paginationOpts } as never)).page;
}

/** As a lane's step records it. */
async function insertEvent(t: App, event: object): Promise<void> {
  const insert = async ({ db }: { db: GenericDatabaseWriter<any> }) =>
    void (await db.insert("events", { queue, at: Date.now(), ...event }));
  await (
    t as unknown as { runInComponent: (path: string, run: typeof insert) => Promise<void> }
  ).runInComponent("conveyor", insert);
}

/** Where the dashboard's answer has a value, kind by kind. */
const WHERE: [DashboardValue["kind"], (said: Said) => unknown][] = [
  ["payload", ({ pending }) => pending.payload],
  ["result", ({ succeeded }) => succeeded.job],
  ["progress", ({ running }) => running.job],
  ["error", ({ failed, list }) => [failed.job, failed.attempts, list]],
  ["log", ({ log }) => log],
  ["output", ({ output }) => output],
];

type Said = Awaited<ReturnType<typeof look>>;

async function look(t: App, jobs: Jobs) {
  const job = async (key: keyof Jobs) =>
    (await t.query(...read({ kind: "job", queue, id: jobs[key] })))!;
  const args = { queue, id: jobs.running };
  return {
    pending: await job("pending"),
    running: await job("running"),
    succeeded: await job("succeeded"),
    scheduled: await job("scheduled"),
    failed: await job("failed"),
    canceled: await job("canceled"),
    list: await listed(t),
    log: (await t.query(...read({ kind: "logs", ...args })))!.entries,
    output: (await t.query(...read({ kind: "output", ...args })))!.parts,
  };
}

describe("show", () => {
  test.each(WHERE)(
    "is given the %s of a job before it leaves, and its return value leaves",
    async (kind, where) => {
      const t = newApp();
      const jobs = await fill(t);
      expect(JSON.stringify(where(await look(t, jobs)))).toContain(secret);
      options.show = (_ctx, of) => (of.kind === kind ? "hidden" : of.value);
      const hidden = JSON.stringify(where(await look(t, jobs)));
      expect(hidden).toContain("hidden");
      expect(hidden).not.toContain(secret);
    },
  );

  test("hides everything that jobs carry, wherever a page could see it", async () => {
    const t = newApp();
    const jobs = await fill(t);
    expect(JSON.stringify(await allOf(t, jobs))).toContain(secret);
    options.show = () => undefined;
    expect(JSON.stringify(await allOf(t, jobs))).not.toContain(secret);
  });

  test("is given an event's message that has the error of a job, and no other", async () => {
    const t = newApp();
    const id = await asApp(t, (ctx) => tiles.enqueue(ctx, { x: 1, label: secret }));
    const message = `handlerMismatch: the queue did not make it. Object: {label: "${secret}"}`;
    await insertEvent(t, { kind: "handlerMismatch", message, details: { job: id, attempt: 1 } });
    await asApp(t, (ctx) => tiles.control.pause(ctx));
    const messages = async () =>
      (await t.query(...read({ kind: "events", queue }))).map(({ message }) => message);
    const paused = "No job is claimed.";
    expect(await messages()).toEqual([paused, message]);
    const shown: DashboardValue[] = [];
    options.show = (_ctx, value) => (shown.push(value), "hidden");
    expect(await messages()).toEqual([paused, "hidden"]);
    expect(shown).toEqual([{ queue, id, kind: "error", value: message }]);
  });

  test("receives the job and the queue of each value", async () => {
    const t = newApp();
    const jobs = await fill(t);
    const shown: DashboardValue[] = [];
    options.show = async (_ctx, value) => {
      shown.push(value);
      return value.value;
    };
    await t.query(...read({ kind: "job", queue, id: jobs.succeeded }));
    const of = { queue, id: jobs.succeeded };
    expect(shown).toEqual([
      { ...of, kind: "result", value: { pixels: secret } },
      { ...of, kind: "payload", value: { x: 1, label: secret } },
    ]);
  });

  test("of an error that waits for another try, and of a cancel's reason, is the error's", async () => {
    const t = newApp();
    const jobs = await fill(t);
    expect(await look(t, jobs)).toMatchObject({
      scheduled: { job: { lastError: secret }, attempts: [{ error: secret }] },
      canceled: { job: { reason: secret } },
    });
    options.show = (_ctx, { kind }) => (kind === "error" ? { code: 7n } : null);
    expect(await look(t, jobs)).toMatchObject({
      scheduled: { job: { lastError: '{"code":"7"}' }, attempts: [{ error: '{"code":"7"}' }] },
      canceled: { job: { reason: '{"code":"7"}' } },
    });
  });

  test("may return a log entry's message alone, or another message and other data", async () => {
    const t = newApp();
    const jobs = await fill(t);
    const entries = async () => (await look(t, jobs)).log;
    expect(await entries()).toMatchObject([{ message: secret, data: { secret } }]);
    const level = "info";
    for (const [returned, shown] of [
      ["less", { message: "less" }],
      [
        { message: "other", data: { n: 1 } },
        { message: "other", data: { n: 1 } },
      ],
      [{ data: 5 }, { message: "", data: 5 }],
      [null, { message: "" }],
      [7, { message: "7" }],
    ] as const) {
      options.show = () => returned;
      expect(await entries()).toEqual([
        { level, attempt: 1, entry: 0, at: expect.any(Number), ...shown },
      ]);
    }
  });

  test("where there is one, why a job waits is answered without its errors", async () => {
    const t = newApp();
    const jobs = await fill(t);
    const whys = async () =>
      await Promise.all(
        (["scheduled", "failed", "canceled"] as const).map(async (key) => {
          const found = await t.query(...read({ kind: "why", queue, id: jobs[key] }));
          return found!.why.reasons.map(({ text }) => text).join(" ");
        }),
      );
    for (const text of await whys()) expect(text).toContain(secret);
    options.show = (_ctx, { value }) => value;
    const told = await whys();
    expect(told.map((text) => text.split(" ").slice(0, 2).join(" "))).toEqual([
      ...["It failed", "It failed", "It was"],
    ]);
    for (const text of told) expect(text).not.toContain(secret);
  });

  test("that throws lets nothing out", async () => {
    const t = newApp();
    const jobs = await fill(t);
    options.show = () => {
      throw new Error("The show is broken.");
    };
    for (const call of [
      t.query(...read({ kind: "job", queue, id: jobs.pending })),
      t.query(...read({ kind: "logs", queue, id: jobs.running })),
      t.query(...read({ kind: "output", queue, id: jobs.running })),
    ]) {
      await expect(call).rejects.toThrow("The show is broken.");
    }
  });

  test("without one, pages receive the contents of jobs unchanged", async () => {
    const t = newApp();
    const jobs = await fill(t);
    expect(options.show).toBeUndefined();
    expect(await look(t, jobs)).toMatchObject({
      pending: { payload: { x: 1, label: secret } },
      running: { job: { progress: { note: secret } } },
      succeeded: { job: { result: { pixels: secret } } },
      failed: { job: { error: expect.stringContaining(secret) } },
      log: [{ message: secret, data: { secret } }],
      output: [{ index: 0, text: secret }],
    });
  });
});
