/** A dashboard over the test app, with options that tests set, and a queue of jobs with contents to hide. */
import { anyApi, type GenericDatabaseReader } from "convex/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import schema from "../component/schema.js";
import {
  dashboardCalls,
  type DashboardApi,
  type DashboardCall,
  type Outcome,
} from "../shared/index.js";
import type { DashboardApiOptions } from "./dashboardTypes.js";
import { api, conveyor, internal, loose, setup, tiles, type App } from "./setup.test.js";

/** The options of the dashboard; tests change it. Everything is allowed to begin with. */
export const options: DashboardApiOptions & { authorize: Authorize } = { authorize: () => true };
type Authorize = (ctx: any, call: DashboardCall) => boolean | Promise<boolean>;

/** The calls that `authorize` received since the test began. */
export const asked: DashboardCall[] = [];

/** Asked this, everything is allowed. */
const allow: Authorize = (_ctx, call) => asked.push(call) > 0;

beforeEach(() => {
  // No timer of the queue runs between two looks at all that is stored.
  vi.useFakeTimers();
  options.authorize = allow;
  delete options.show;
  asked.length = 0;
  // Each error here is logged.
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const functions = conveyor.dashboardApi(options);
const dashboard = (anyApi as unknown as { dashboard: DashboardApi }).dashboard;
export const { read, write } = dashboardCalls(dashboard);
export const names = Object.keys(functions);

export const newApp = (of: { mounted?: boolean } = {}): App =>
  setup({ ...of, modules: { dashboard: functions } });

/** Runs as a mutation of the app. */
export const asApp = async <Result>(t: App, run: (ctx: any) => Promise<Result>): Promise<Result> =>
  await t.run(async (ctx) => await run(ctx));

/** All that the component has stored and scheduled, to see whether anything was changed. */
export async function everything(t: App): Promise<unknown> {
  const dump = async ({ db }: { db: GenericDatabaseReader<any> }) => [
    await db.system.query("_scheduled_functions").collect(),
    ...(await Promise.all(Object.keys(schema.tables).map((table) => db.query(table).collect()))),
  ];
  const within = t as unknown as {
    runInComponent: (path: string, run: typeof dump) => Promise<unknown>;
  };
  return await within.runInComponent("conveyor", dump);
}

export const secret = "a secret of the job";

/** Of `tiles`, one of each fate that carries something; and one of another queue. */
export interface Jobs {
  pending: string;
  scheduled: string;
  running: string;
  succeeded: string;
  failed: string;
  canceled: string;
  worker: string;
  other: string;
}

/** Jobs with {@link secret} in their payloads, results, progress, errors, logs and output. */
export async function fill(t: App): Promise<Jobs> {
  const payload = { x: 1, label: secret };
  const begun = await asApp(t, (ctx) =>
    tiles.enqueueBatch(ctx, Array(5).fill(payload), { retry: true }),
  );
  const [running, succeeded, failed, canceled, scheduled] = begun as string[];
  const { token } = await t.mutation(internal.app.createToken, { name: "test" });
  const session = { token, sessionKey: "session-1" };
  const look = { ...session, queues: ["tiles"] };
  const { jobs } = await t.mutation(api.app.claim, { ...look, name: "w", callSeq: 1, max: 10 });
  const leaseOf = (id: string) => ({ id, attempt: jobs.find((job) => job.id === id)!.attempt });
  const lease = leaseOf(running!);
  await t.mutation(api.app.report, {
    ...session,
    updates: [{ ...lease, value: { note: secret } }],
    logs: [{ ...lease, entry: 0, level: "info", message: secret, data: { secret } }],
    output: [{ ...lease, index: 0, text: secret }],
  });
  await asApp(t, (ctx) => tiles.cancel(ctx, canceled!, { reason: secret }));
  const outcomes: [string, Outcome][] = [
    [succeeded!, { kind: "succeeded", result: { pixels: secret } }],
    [failed!, { kind: "failed", error: secret, retryable: false }],
    [canceled!, { kind: "failed", error: secret }],
    [scheduled!, { kind: "failed", error: secret, retryAfterMs: 60_000 }],
  ];
  const finished = outcomes.map(([id, outcome]) => ({ ...leaseOf(id), outcome, queue: "tiles" }));
  await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
  const pending = await asApp(t, (ctx) => tiles.enqueue(ctx, payload));
  const other = await asApp(t, (ctx) => loose.enqueue(ctx, { secret }));
  const row = await asApp(t, (ctx) => conveyor.workers(ctx));
  return {
    worker: row[0]!.id,
    ...{ running: running!, succeeded: succeeded!, failed: failed!, canceled: canceled! },
    ...{ scheduled: scheduled!, pending, other },
  };
}

test("the jobs of a dashboard's tests have the statuses of their names", async () => {
  const t = newApp();
  const { other, worker: _, ...jobs } = await fill(t);
  for (const [status, id] of Object.entries(jobs)) {
    expect(await t.query(...read({ kind: "job", queue: "tiles", id }))).toMatchObject({
      job: { status },
    });
  }
  const job = read({ kind: "job", queue: "loose", id: other });
  expect(await t.query(...job)).toMatchObject({ payload: { secret } });
});
