/** Results of handlers inside Convex, and handlers that change: on `convex-test`, with the real component. */
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pass, settle } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";
import { suiteOf } from "./suite.test.js";

const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;
const conveyor = new Conveyor(component);
const functions: Record<string, any> = anyApi["app"] as never;

const vNumber = { payload: v.object({ n: v.number() }), result: v.object({ double: v.number() }) };
const QUEUES = {
  action: conveyor.queue("byAction", { ...vNumber, action: () => functions["act"] }),
  mutation: conveyor.queue("byMutation", { ...vNumber, mutation: () => functions["write"] }),
  query: conveyor.queue("byQuery", { ...vNumber, query: () => functions["read"] }),
  inline: conveyor.queue("inline", { ...vNumber, inline: () => functions["work"] }),
};
type How = keyof typeof QUEUES;

/** Their types have no return type: only running them shows it. */
const doubled = (n: number): any => ({ double: n < 0 ? "nothing" : 2 * n });

/** The same queue, as two deployed versions define it. */
const vName = { payload: v.object({ ms: v.number() }), maxParallelism: 1 };
const VERSIONS = [
  new Conveyor(component).queue("deployed", { ...vName, action: () => functions["first"] }),
  new Conveyor(component).queue("deployed", { ...vName, action: () => functions["second"] }),
  new Conveyor(component).queue("deployed", { ...vName, inline: () => functions["third"] }),
] as const;

const napping = (version: 0 | 1, name: string) =>
  VERSIONS[version].action(async (_ctx, { payload: { ms } }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return name;
  });

const app = {
  act: QUEUES.action.action((_ctx, { payload: { n } }) => doubled(n)),
  write: QUEUES.mutation.mutation(async (ctx, { payload: { n } }) => {
    await ctx.db.insert("written", { n });
    return doubled(n);
  }),
  read: QUEUES.query.query((_ctx, { payload: { n } }) => doubled(n)),
  work: QUEUES.inline.inline((_ctx, { payload: { n } }) => doubled(n)),
  first: napping(0, "first"),
  second: napping(1, "second"),
  third: VERSIONS[2].inline(() => "third"),
  enqueue: mutationGeneric({
    args: { how: v.string(), ns: v.array(v.number()) },
    handler: async (ctx, { how, ns }) =>
      await QUEUES[how as How].enqueueBatch(
        ctx,
        ns.map((n) => ({ n })),
      ),
  }),
  status: queryGeneric({
    args: { how: v.string(), ids: v.array(v.string()) },
    handler: async (ctx, { how, ids }) => await QUEUES[how as How].statusBatch(ctx, ids as never),
  }),
  written: queryGeneric({
    args: {},
    handler: async (ctx) => (await ctx.db.query("written").collect()).map(({ n }) => n as number),
  }),
  nap: mutationGeneric({
    args: { version: v.number(), ms: v.number() },
    handler: async (ctx, { version, ms }) => await VERSIONS[version]!.enqueue(ctx, { ms }),
  }),
  /** As the call of a lane that received a mutation. */
  executes: mutationGeneric({
    args: { lane: v.string(), generation: v.number(), callSeq: v.number(), id: v.string() },
    handler: async (ctx, { id, callSeq, ...lane }) =>
      await ctx.runMutation(component.lib.laneStep, {
        ...{ ...lane, callSeq, lastAckedCall: callSeq - 1, finished: [], looks: 0 },
        execute: [{ id, attempt: 1 }],
      }),
  }),
  attempts: queryGeneric({
    args: { id: v.string() },
    handler: async (ctx, { id }) => await VERSIONS[0].attempts(ctx, id),
  }),
  napStatus: queryGeneric({
    args: { ids: v.array(v.string()) },
    handler: async (ctx, { ids }) => await VERSIONS[0].statusBatch(ctx, ids as never),
  }),
};

const time = { advance: (ms: number) => vi.advanceTimersByTime(ms), stepMs: 250 };

const setup = () => suiteOf(app, defineSchema({ written: defineTable({ n: v.number() }) }));

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const NAMES = { action: "byAction", mutation: "byMutation", query: "byQuery", inline: "inline" };

test.each(["action", "mutation", "query", "inline"] as const)(
  "the return value of a handler (%s) must be a result of its queue: else its job fails, and says where it does not fit",
  async (how) => {
    const t = setup();
    const ids: string[] = await t.mutation(functions["enqueue"], { how, ns: [1, -1, 2] });
    await settle(t, time);
    const jobs: any[] = await t.query(functions["status"], { how, ids });
    const error =
      `The handler's result does not fit the queue "${NAMES[how]}": result.double must be number, got string. ` +
      "The job counts as failed.";
    expect(jobs).toMatchObject([
      { status: "succeeded", result: { double: 2 } },
      { status: "failed", error, failures: 1 },
      { status: "succeeded", result: { double: 4 } },
    ]);
    // A mutation's writes share the fate of its result.
    expect(await t.query(functions["written"], {})).toEqual(how === "mutation" ? [1, 2] : []);
  },
);

test("a queue's other handler is taken from the next job on, also by a lane that runs already", async () => {
  const t = setup();
  const nap = async (version: number, ms: number): Promise<string> =>
    await t.mutation(functions["nap"], { version, ms });
  // One at a time: the second waits for the first, in the same lane.
  const ids = [await nap(0, 15_000), await nap(0, 0)];
  await pass(t, 12_000, time);
  ids.push(await nap(1, 0));
  await settle(t, time);
  const jobs: any[] = await t.query(functions["napStatus"], { ids });
  expect(jobs.map(({ status, result }) => [status, result])).toEqual([
    ["succeeded", "first"],
    ["succeeded", "second"],
    ["succeeded", "second"],
  ]);
  expect(new Set(jobs.map(({ worker }) => worker)).size).toBe(1);
});

test("an inline handler that takes another's place waits for a lane that runs in it", async () => {
  const t = setup();
  const nap = async (version: number, ms: number): Promise<string> =>
    await t.mutation(functions["nap"], { version, ms });
  const ids = [await nap(0, 15_000), await nap(0, 0)];
  await pass(t, 12_000, time);
  ids.push(await nap(2, 0));
  await settle(t, time);
  await pass(t, 31_000, time);
  await settle(t, time);
  const jobs: any[] = await t.query(functions["napStatus"], { ids });
  expect(jobs.map(({ status, result, failures }) => [status, result, failures])).toEqual([
    ["succeeded", "first", 0],
    ["succeeded", "third", 0],
    ["succeeded", "third", 0],
  ]);
});

test("a job with a handler that is no mutation any more is given back by the step that was to run it, and not failed", async () => {
  const t = setup();
  const id: string = await t.mutation(functions["nap"], { version: 0, ms: 60_000 });
  await pass(t, 5_000, time);
  type Looks = (path: string, look: (ctx: any) => Promise<any[]>) => Promise<any[]>;
  const within = (t as unknown as { runInComponent: Looks }).runInComponent;
  const [lane] = await within("conveyor", (ctx) => ctx.db.query("lanes").collect());
  const [session] = await within("conveyor", (ctx) => ctx.db.query("sessions").collect());
  const { _id } = lane as { _id: string };
  const { generation, callSeq: last } = session as { generation: number; callSeq: number };
  const call = { lane: _id, generation, callSeq: last + 1, id };
  const reply = await t.mutation(functions["executes"], call);
  expect(reply).toMatchObject({ answers: [{ id, attempt: 1, answer: "ok" }] });
  const attempts: unknown = await t.query(functions["attempts"], { id });
  expect(attempts).toMatchObject([{ attempt: 1, outcome: "released" }]);
  const [job]: any[] = await t.query(functions["napStatus"], { ids: [id] });
  expect(job).toMatchObject({ status: "pending", failures: 0 });
});
