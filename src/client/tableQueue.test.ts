/** Queues over the app's own table: rows are claimed, worked on and recorded with the worker's usual calls. */
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { pass, work } from "../test.js";
import type { Handlers, QueuesOf } from "../worker/types.js";
import { api, documents, done, failed, seen, setup, TIME } from "./documents.test.js";

afterEach(() => void vi.useRealTimers());

describe("rows that wait", () => {
  // Shows SG-22, SG-25, C28.
  test("are claimed in the order of the app's index, with what the app joins to them, and are marked", async () => {
    const { t, insert, claimBy, row } = await setup();
    const owner = await t.run((ctx) => ctx.db.insert("owners", { name: "Ada" }));
    const low = await insert("low", 1);
    const high = await insert("high", 5, { owner });
    const [job, ...others] = await claimBy("a")(1, 1);
    expect(others).toEqual([]);
    expect(job).toMatchObject({
      queue: "documents",
      attempt: 1,
      payload: { _id: high, title: "high", owner: "Ada" },
    });
    expect(await row(high)).toMatchObject({
      ...{ status: "reading", tries: 1, reader: "a", begunAt: Date.now() },
    });
    expect((await row(low))?.status).toBe("uploaded");
    type Queues = QueuesOf<(typeof api)["app"]>;
    type Handles = Extract<Handlers<Queues>["documents"], (job: never) => unknown>;
    type Given = Parameters<Handles>[0]["payload"];
    expectTypeOf<Given["owner"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Given["title"]>().toEqualTypeOf<string>();
  });

  // Shows SG-22.
  test("are seen by the workers' subscription without a call, until the last is claimed or the queue is paused", async () => {
    const { t, insert, claimBy, hasWork } = await setup();
    expect(await hasWork()).toBe(false);
    await insert("a");
    await insert("b");
    expect(await hasWork()).toBe(true);
    expect(await hasWork(["plain"])).toBe(false);
    await claimBy("a")(1, 1);
    expect(await hasWork()).toBe(true);
    await t.mutation(api.app.pause, {});
    expect(await hasWork()).toBe(false);
    expect(await claimBy("b")(1)).toEqual([]);
  });

  test("have no group: a worker that is bound to groups is neither woken for them nor given any", async () => {
    const bound = await setup(["org"]);
    await bound.insert("a");
    expect(await bound.hasWork()).toBe(false);
    expect(await bound.claimBy("a")(1)).toEqual([]);
    expect(await bound.hasWork(["documents"], ["org"])).toBe(false);
  });

  test("a call that is repeated is answered with the same rows, and takes no more", async () => {
    const { insert, claimBy, row } = await setup();
    const a = await insert("a", 2);
    const b = await insert("b", 1);
    const first = await claimBy("s")(1, 1);
    expect(await claimBy("s")(1, 1)).toEqual(first);
    expect(first).toMatchObject([{ payload: { _id: a } }]);
    expect((await row(b))?.status).toBe("uploaded");
  });
});

describe("the end of a row's job", () => {
  // Shows SG-22, SG-26.
  test("writes its state, the named columns and the app's own results as one, and the next claim comes with it", async () => {
    const { insert, claimBy, complete, row } = await setup();
    const a = await insert("a", 2);
    const b = await insert("b", 1);
    const [job] = await claimBy("s")(1, 1);
    const reply = await complete("s", 2, [done(job!)], { queues: ["documents"], max: 1 });
    expect(reply.jobs).toMatchObject([{ payload: { _id: b } }]);
    expect(await row(a)).toMatchObject({ status: "read", doneAt: Date.now(), text: "words" });
    expect(seen.recorded).toEqual([
      { title: "a", status: "read", outcome: "succeeded", attempt: 1 },
    ]);
  });

  test("an attempt that fails, or whose result does not fit, is followed by another after its backoff; the row says why when none is left", async () => {
    const { t, insert, claimBy, complete, row } = await setup();
    const a = await insert("a");
    for (let attempt = 1; attempt <= 3; attempt++) {
      const [job] = await claimBy("s")(3 * attempt - 2, 1);
      expect(job).toMatchObject({ attempt, payload: { _id: a, tries: attempt } });
      const misfit = { ...done(job!), outcome: { kind: "succeeded", result: { text: 5 } } };
      await complete("s", 3 * attempt - 1, [attempt === 1 ? misfit : failed(job!)]);
      if (attempt < 3) {
        expect(await row(a)).toMatchObject({ status: "reading" });
        // Until the backoff is over, and it has been left to a worker that did not fail it.
        expect(await claimBy("s")(3 * attempt)).toEqual([]);
        await pass(t, 13_000, TIME);
      }
    }
    expect(await row(a)).toMatchObject({
      status: "unreadable",
      problem: expect.stringContaining("smudged"),
      tries: 3,
    });
    expect(seen.recorded).toHaveLength(1);
  });

  test("a row that the app makes claimable again after the end has another job", async () => {
    const { insert, claimBy, complete, change, row } = await setup();
    const a = await insert("a");
    const [first] = await claimBy("s")(1);
    await complete("s", 2, [done(first!)]);
    await change(a, { status: "uploaded" });
    const [second] = await claimBy("s")(3);
    expect(second!.id).not.toBe(first!.id);
    await complete("s", 4, [done(second!, "again")]);
    expect(await row(a)).toMatchObject({ status: "read", text: "again" });
  });
});

describe("races", () => {
  // Shows C30.
  test("a row that is deleted while it runs cancels its job with the next beat, and with `cancelRow` at once", async () => {
    const { t, token, insert, claimBy, beat, complete } = await setup();
    const a = await insert("a");
    const b = await insert("b");
    const jobs = await claimBy("s")(1);
    await t.run((ctx) => ctx.db.delete(a));
    const ofA = jobs.find(({ payload }) => (payload as { _id: string })._id === a)!;
    const ofB = jobs.find(({ payload }) => (payload as { _id: string })._id === b)!;
    expect(
      await beat(
        "s",
        [ofA, ofB].map(({ id, attempt }) => ({ id, attempt })),
      ),
    ).toEqual(["canceled", "ok"]);
    expect(await t.mutation(api.app.cancelRow, { row: b })).toMatchObject({ requested: true });
    const asked = await t.query(api.app.watch, {
      token,
      call: { kind: "cancellations", sessionKey: "s" },
    } as any);
    expect((asked as { id: string }[]).map(({ id }) => id).sort()).toEqual([ofA.id, ofB.id].sort());
    const canceled = (job: typeof ofA) => ({ ...done(job), outcome: { kind: "canceled" } });
    await complete("s", 2, [canceled(ofA), canceled(ofB)]);
    const status = async (id: string) =>
      await t.run((ctx) => documents.status(ctx as any, id as never));
    expect((await status(ofA.id))?.status).toBe("canceled");
    expect((await status(ofB.id))?.status).toBe("canceled");
    expect(seen.recorded).toEqual([]);
  });

  test("a completion that names the leases held besides is a beat: its answer says of which rows are gone, or ask for their end", async () => {
    const { t, token, insert, claimBy, change } = await setup();
    const [short, gone, stopped, other] = [
      await insert("short", 4),
      await insert("gone", 3),
      await insert("stopped", 2),
      await insert("other", 1),
    ];
    const jobs = await claimBy("s")(1);
    const leaseOf = (row: string) => {
      const { id, attempt } = jobs.find(({ payload }) => payload._id === row)!;
      return { id, attempt };
    };
    await t.run((ctx) => ctx.db.delete(gone));
    await change(stopped, { stop: true });
    const { held } = await t.mutation(api.app.complete, {
      ...{ token, sessionKey: "s", callSeq: 2, finished: [done(leaseOf(short)) as never] },
      held: [gone, stopped, other].map(leaseOf),
    });
    expect(held?.map(({ answer }) => answer)).toEqual(["canceled", "canceled", "ok"]);
  });

  test("`cancel` in the row asks for its job's end, and the row says that it was", async () => {
    const { insert, claimBy, beat, complete, change, row } = await setup();
    const a = await insert("a");
    const [job] = await claimBy("s")(1);
    await change(a, { stop: true });
    expect(await beat("s", [{ id: job!.id, attempt: 1 }])).toEqual(["canceled"]);
    await complete("s", 2, [{ id: job!.id, attempt: 1, outcome: { kind: "canceled" } }]);
    expect(await row(a)).toMatchObject({ status: "stopped" });
    expect(seen.recorded).toMatchObject([{ outcome: "canceled" }]);
  });

  test("a row that asks for its end before it is claimed is given to no worker, and says once that it was canceled", async () => {
    const { t, insert, claimBy, row, hasWork } = await setup();
    const a = await insert("a", 5, { stop: true });
    const b = await insert("b", 1);
    expect(await claimBy("s")(1)).toMatchObject([{ payload: { _id: b } }]);
    await pass(t, 100, TIME);
    expect(await row(a)).toMatchObject({ status: "stopped" });
    expect(seen.recorded).toMatchObject([{ title: "a", status: "stopped", outcome: "canceled" }]);
    expect(await hasWork()).toBe(false);
    expect(await claimBy("s")(2)).toEqual([]);
    expect(seen.recorded).toHaveLength(1);
  });

  test("a running row that is made claimable and asks for its end keeps no worker awake", async () => {
    const { insert, claimBy, change, row, beat, complete, hasWork } = await setup();
    const a = await insert("a");
    const [job] = await claimBy("s")(1);
    await change(a, { status: "uploaded", stop: true });
    expect(await claimBy("other")(1)).toEqual([]);
    expect(await hasWork()).toBe(false);
    expect(await beat("s", [{ id: job!.id, attempt: 1 }])).toEqual(["canceled"]);
    await complete("s", 2, [{ id: job!.id, attempt: 1, outcome: { kind: "canceled" } }]);
    expect(await row(a)).toMatchObject({ status: "stopped" });
  });

  test("a row that is deleted while its job waits for another attempt is given to no worker", async () => {
    const { t, insert, claimBy, complete } = await setup();
    const a = await insert("a");
    const [job] = await claimBy("s")(1);
    await complete("s", 2, [failed(job!)]);
    await t.run((ctx) => ctx.db.delete(a));
    await pass(t, 11_000, TIME);
    expect(await claimBy("s")(3)).toEqual([]);
    const status = await t.run((ctx) => documents.status(ctx as any, job!.id as never));
    expect(status?.status).toBe("canceled");
  });

  test("a row that the app makes claimable under the lease is not given twice, and is marked again", async () => {
    const { insert, claimBy, change, row, hasWork } = await setup();
    const a = await insert("a", 5);
    const b = await insert("b", 1);
    await claimBy("s")(1, 1);
    await change(a, { status: "uploaded" });
    expect(await claimBy("other")(1, 1)).toEqual([]);
    expect((await row(a))?.status).toBe("reading");
    expect(await claimBy("other")(2, 1)).toMatchObject([{ payload: { _id: b } }]);
    expect(await hasWork()).toBe(false);
  });

  test("another state that the app has written under the lease stays at the job's end", async () => {
    const { insert, claimBy, complete, change, row } = await setup();
    const a = await insert("a");
    const [job] = await claimBy("s")(1);
    await change(a, { status: "archived" });
    await complete("s", 2, [done(job!)]);
    expect(await row(a)).toMatchObject({ status: "archived", text: "words" });
  });

  // Shows C30.
  test("a lease that is lost goes to another worker, and the late end of the first changes nothing", async () => {
    const { t, insert, claimBy, complete, row } = await setup();
    const a = await insert("a");
    const [lost] = await claimBy("s")(1);
    await pass(t, 12_000, TIME);
    const [job] = await claimBy("other")(1);
    expect(job).toMatchObject({ id: lost!.id, attempt: 2, payload: { _id: a } });
    const late = await complete("s", 2, [done(lost!, "late")]);
    expect(late.answers).toMatchObject([{ answer: "leaseLost" }]);
    expect(await row(a)).toMatchObject({ status: "reading", reader: "other" });
    await complete("other", 2, [done(job!, "in time")]);
    expect(await row(a)).toMatchObject({ status: "read", text: "in time" });
    expect(seen.recorded).toHaveLength(1);
  });

  test("what cannot be joined fails its attempt by the queue's retry, and no other row", async () => {
    const { t, insert, claimBy, row } = await setup();
    const a = await insert("a");
    seen.joinFails = true;
    expect(await claimBy("s")(1)).toEqual([]);
    seen.joinFails = false;
    expect((await row(a))?.status).toBe("reading");
    await pass(t, 11_000, TIME);
    expect(await claimBy("s")(2)).toMatchObject([{ attempt: 2 }]);
  });

  test.each<[string, unknown]>([
    ["a date", new Date(0)],
    ["half a character", "\ud83d"],
  ])("a join with %s in it fails its attempt too, and no claim", async (_, joined) => {
    const { t, insert, claimBy, row } = await setup();
    const a = await insert("a");
    seen.joinedText = joined as string;
    expect(await claimBy("s")(1)).toEqual([]);
    seen.joinedText = undefined;
    expect((await row(a))?.status).toBe("reading");
    await pass(t, 11_000, TIME);
    expect(await claimBy("s")(2)).toMatchObject([{ attempt: 2 }]);
  });
});

// Shows C30.
test("a worker program serves rows and plain jobs with the same handlers", async () => {
  const { t, insert, row } = await setup();
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await insert(`doc ${i}`, i));
  let failures = 0;
  const attempts = await work(
    t,
    api.app,
    {
      documents: async ({ payload }) => {
        if (payload.title === "doc 3" && failures++ === 0) throw new Error("once");
        return await Promise.resolve({ text: payload.title });
      },
    },
    { ...TIME, withinMs: 60_000 },
  );
  expect(attempts.filter(({ outcome }) => outcome === "succeeded")).toHaveLength(4);
  for (const [i, id] of ids.entries())
    if (i !== 3) expect(await row(id)).toMatchObject({ status: "read", text: `doc ${i}` });
});
