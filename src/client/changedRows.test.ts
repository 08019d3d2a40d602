/** Rows that are not as the claim, the attempt or the end of their jobs expects them: changed by the app, large, or none at all. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { componentsGeneric } from "convex/server";
import { v } from "convex/values";
import { CLAIM_MAX_BYTES } from "../shared/index.js";
import { pass } from "../test.js";
import { documents, done, failed, seen, setup, TIME } from "./documents.test.js";
import { Conveyor, type ComponentApi } from "./index.js";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a state of its own that the app writes", () => {
  test("under the lease stays through the next attempts, and at the job's end", async () => {
    const { t, insert, claimBy, complete, change, row } = await setup();
    const a = await insert("a");
    const [first] = await claimBy("s")(1);
    await change(a, { status: "archived" });
    await complete("s", 2, [failed(first!)]);
    await pass(t, 13_000, TIME);
    const [second] = await claimBy("s")(3);
    expect(second).toMatchObject({ id: first!.id, attempt: 2 });
    expect(await row(a)).toMatchObject({ status: "archived", tries: 2 });
    await complete("s", 4, [done(second!)]);
    expect(await row(a)).toMatchObject({ status: "archived", text: "words" });
  });

  test("is no bar to a job that is retried after its end: the row runs again", async () => {
    const { t, insert, claimBy, complete, row } = await setup();
    const a = await insert("a");
    const [first] = await claimBy("s")(1);
    await complete("s", 2, [done(first!)]);
    await t.run(async (ctx) => void (await documents.retry(ctx as any, first!.id as never)));
    expect(await claimBy("s")(3)).toMatchObject([{ id: first!.id, attempt: 2 }]);
    expect(await row(a)).toMatchObject({ status: "reading" });
  });

  test("and that waits again before its job's end is recorded is of its new job: the late record gives it no end", async () => {
    const { t, insert, claimBy, complete, row, change } = await setup();
    const a = await insert("a");
    const [first] = await claimBy("s")(1);
    seen.alsoRecord = async () => await Promise.reject(new Error("Not yet."));
    await complete("s", 2, [done(first!)]);
    expect(await row(a)).toMatchObject({ status: "reading" });
    seen.alsoRecord = undefined;
    await change(a, { status: "uploaded" });
    const [second] = await claimBy("s")(3);
    expect(second!.id).not.toBe(first!.id);
    await pass(t, 3_000, TIME);
    expect(seen.recorded).toHaveLength(2);
    expect(await row(a)).toMatchObject({ status: "reading", text: "words" });
    await complete("s", 4, [{ ...done(second!), outcome: { kind: "canceled" } }]);
    expect(await row(a)).toMatchObject({ status: "stopped" });
  });

  test("nor does the late record of a job that was retried, which ends as its next attempt does", async () => {
    const { t, insert, claimBy, complete, row } = await setup();
    const a = await insert("a");
    const [first] = await claimBy("s")(1);
    seen.alsoRecord = async () => await Promise.reject(new Error("Not yet."));
    await complete("s", 2, [{ ...done(first!), outcome: { kind: "canceled" } }]);
    seen.alsoRecord = undefined;
    await t.run(async (ctx) => void (await documents.retry(ctx as any, first!.id as never)));
    const [second] = await claimBy("s")(3);
    await pass(t, 3_000, TIME);
    expect(await row(a)).toMatchObject({ status: "reading" });
    await complete("s", 4, [done(second!)]);
    expect(await row(a)).toMatchObject({ status: "read" });
  });

  test("in the end of another row's job takes the row out of the same call's claim", async () => {
    const { t, insert, claimBy, complete, row, change } = await setup();
    const a = await insert("a", 5);
    const b = await insert("b", 1);
    const [job] = await claimBy("s")(1, 1);
    expect(job).toMatchObject({ payload: { _id: a } });
    seen.alsoRecord = async (ctx) => await ctx.db.patch(b, { status: "archived" });
    const { jobs } = await complete("s", 2, [done(job!)], { queues: ["documents"], max: 2 });
    expect(jobs).toEqual([]);
    await pass(t, 100, TIME);
    expect(await row(b)).toMatchObject({ status: "archived" });
    seen.alsoRecord = undefined;
    await change(b, { status: "uploaded" });
    expect(await claimBy("s")(3)).toMatchObject([{ payload: { _id: b }, attempt: 1 }]);
  });
});

describe("a job of the queue that is no row's", () => {
  const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;

  test.each([
    ["a payload that is no text", { title: "old" }],
    ["a text that is no id", "old"],
  ])("with %s, left by a plain queue of this name, ends, and bars no row", async (_, payload) => {
    const { t, insert, claimBy } = await setup();
    const former = new Conveyor(component).queue("documents", { payload: v.any() });
    const id = await t.run(
      async (ctx) => await former.enqueue(ctx as any, payload, { key: "mine" }),
    );
    const a = await insert("a");
    const jobs = await claimBy("s")(1);
    expect(jobs).toMatchObject([{ payload: { _id: a } }]);
    await pass(t, 100, TIME);
    const status = await t.run((ctx) => documents.status(ctx as any, id as never));
    expect(status?.status).toBe("canceled");
  });

  test("cannot be made by a worker that continues with the queue", async () => {
    const { t, insert, claimBy, complete } = await setup();
    await insert("a");
    const [job] = await claimBy("s")(1);
    const continued = [{ queue: "documents", payload: { title: "made up" } }];
    const { refused } = await complete("s", 2, [{ ...done(job!), continued }]);
    expect(refused).toMatchObject([{ error: expect.stringContaining("Insert a row") }]);
    const status = await t.run((ctx) => documents.status(ctx as any, job!.id as never));
    expect(status?.status).not.toBe("succeeded");
  });
});

describe("rows that are many bytes together", () => {
  const LARGE = { text: "x".repeat(CLAIM_MAX_BYTES / 8) };

  test("are read by one beat after the other, and each that asks for its end is heard", async () => {
    const { t, insert, claimBy, beat, change } = await setup();
    const ids = [];
    for (let i = 0; i < 16; i++) ids.push(await insert(`row ${i}`));
    const jobs = await claimBy("s")(1, 16);
    for (const id of ids) await change(id, { ...LARGE, stop: true });
    const leases = jobs.map(({ id, attempt }) => ({ id, attempt }));
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    const ended = async () => (await beat("s", leases)).filter((answer) => answer === "canceled");
    const first = await ended();
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(10);
    random.mockReturnValue(0.5);
    expect(await ended()).toHaveLength(16);
    await pass(t, 1, TIME);
  });

  test("are taken by one claim after the other where their jobs are tried again, however little a join leaves of them", async () => {
    const { t, insert, claimBy, complete, change, row } = await setup();
    seen.joinedText = "";
    const ids = [];
    for (let i = 0; i < 16; i++) ids.push(await insert(`row ${i}`));
    const jobs = await claimBy("s")(1, 16);
    expect(jobs).toHaveLength(16);
    await complete("s", 2, jobs.map(failed));
    for (const id of ids) await change(id, LARGE);
    await pass(t, 13_000, TIME);
    const taken: string[] = [];
    for (let call = 3; call < 6; call++) {
      const some = await claimBy("s")(call, 16);
      expect(some.length).toBeLessThan(10);
      taken.push(...some.map(({ payload }) => payload.title));
    }
    expect(new Set(taken).size).toBe(16);
    for (const id of ids)
      expect(await row(id)).toMatchObject({ status: "reading", tries: expect.any(Number) });
  });

  test("say that they run where their jobs are left for the next claim, since their joins are many bytes", async () => {
    const { insert, claimBy, row } = await setup();
    seen.joinedText = LARGE.text;
    const ids = [];
    for (let i = 0; i < 12; i++) ids.push(await insert(`row ${i}`));
    const first = await claimBy("s")(1, 12);
    expect(first.length).toBeLessThan(12);
    for (const id of ids) expect(await row(id)).toMatchObject({ status: "reading" });
    const second = await claimBy("s")(2, 12);
    expect(first.length + second.length).toBe(12);
  });
});
