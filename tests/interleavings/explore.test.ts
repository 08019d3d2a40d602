/**
 * The checker itself: it plays every order, and finds a fault in one of them. On an app of a few lines, with so few orders that
 * they can be counted by hand.
 */
import { expect, test } from "vitest";
import { makeDeployment, PRELUDE } from "../../local/functions/testing.js";
import { explore, type End } from "./explore.js";
import { Transactions, type Call } from "./transactions.js";

const app = await makeDeployment({
  "": {
    "schema.ts": `${PRELUDE}
      export default defineSchema({ sums: defineTable({ of: v.string(), sum: v.number() }).index("of", ["of"]) });`,
    "app.ts": `${PRELUDE}
      const sumOf = async (ctx, of) => (await ctx.db.query("sums").withIndex("of", (q) => q.eq("of", of)).collect())
        .reduce((sum, row) => sum + row.sum, 0);
      export const put = mutation((ctx, { of, sum }) => ctx.db.insert("sums", { of, sum }));
      export const sum = query((ctx, { of }) => sumOf(ctx, of));
      export const add = mutation(async (ctx, { of, from }) => {
        await ctx.db.insert("sums", { of, sum: 1 + await sumOf(ctx, from) });
      });
      export const addBlindly = mutation(async (ctx, { of, from }) => {
        const seen = await ctx.runQuery(api.app.sum, { of: from }, { useStaleSnapshot: true });
        await ctx.db.insert("sums", { of, sum: 1 + seen });
      });
      export const later = mutation((ctx, { of }) => ctx.scheduler.runAfter(0, api.app.put, { of, sum: 1 }));
      export const refuse = mutation(() => { throw new ConvexError("no"); });`,
  },
});

function call(path: string, args: object = {}): Call {
  return { kind: "mutation", namespace: "", path: `app:${path}`, args };
}

const sums = ({ point }: End) =>
  point
    .rows<{ of: string; sum: number }>("", "sums")
    .map(({ of, sum }) => `${of}${sum}`)
    .sort()
    .join(" ");

async function ends(calls: Record<string, Call>, { validates = true } = {}) {
  const transactions = new Transactions(app, { validates });
  const set = await transactions.run(transactions.first, call("put", { of: "z", sum: 0 }));
  const start = transactions.first.commit(set.transaction, "set up")!;
  const found: End[] = [];
  const noted = (end: End) => void found.push(end);
  const count = await explore(transactions, start, calls, {
    onPoint: () => Promise.resolve(),
    onEnd: (end) => Promise.resolve(noted(end)),
    onRest: () => Promise.resolve(),
  });
  return { ...count, found, sums: new Set(found.map(sums)) };
}

test("two transactions have 6 orders, three have 90, and all lead to the same rows if they do not conflict", async () => {
  const two = await ends({
    a: call("add", { of: "a", from: "a" }),
    b: call("add", { of: "b", from: "b" }),
  });
  expect(two.orders).toBe(6);
  const three = await ends({
    a: call("add", { of: "a", from: "a" }),
    b: call("add", { of: "b", from: "b" }),
    c: call("add", { of: "c", from: "c" }),
  });
  expect(three.orders).toBe(90);
  expect([...two.sums, ...three.sums]).toEqual(["a1 b1 z0", "a1 b1 c1 z0"]);
});

test("of two that read each other's writes, one retries: only results of a serial order come out", async () => {
  const calls = {
    a: call("add", { of: "a", from: "b" }),
    b: call("add", { of: "b", from: "a" }),
  };
  expect((await ends(calls)).sums).toEqual(new Set(["a1 b2 z0", "a2 b1 z0"]));
  // Without validation both see nothing of each other: the write skew that it is for.
  expect((await ends(calls, { validates: false })).sums).toContain("a1 b1 z0");
});

test("a snapshot query depends on nothing, and is given its own snapshot and an older one", async () => {
  const { orders, sums, found } = await ends({
    a: call("addBlindly", { of: "a", from: "b" }),
    b: call("put", { of: "b", sum: 1 }),
  });
  expect(sums).toEqual(new Set(["a1 b1 z0", "a2 b1 z0"]));
  expect(orders).toBe(12);
  // Begun after the other has committed, and still not seeing it.
  expect(found.map(({ order }) => order)).toContain("+b =b +~a =a");
});

test("a function scheduled for now is one more transaction, from the commit on", async () => {
  const { sums, orders, found } = await ends({
    a: call("later", { of: "a" }),
    b: call("add", { of: "b", from: "a" }),
  });
  expect(sums).toEqual(new Set(["a1 b1 z0", "a1 b2 z0"]));
  // By where the other's two steps lie among the four of these.
  expect(orders).toBe(15);
  expect(found.every(({ ended }) => ended.length === 3)).toBe(true);
});

test("a function that throws has committed nothing and is an end as well", async () => {
  const { found } = await ends({ a: call("refuse"), b: call("put", { of: "b", sum: 1 }) });
  expect(found.map(({ ended }) => ended[0]!.result?.ok)).toEqual(found.map(() => false));
  expect(new Set(found.map(sums))).toEqual(new Set(["b1 z0"]));
});

test("the same orders are played every time", async () => {
  const calls = () => ({
    a: call("addBlindly", { of: "a", from: "b" }),
    b: call("add", { of: "b", from: "a" }),
  });
  const orders = (found: End[]) => found.map((end) => `${end.order}: ${sums(end)}`);
  expect(orders((await ends(calls())).found)).toEqual(orders((await ends(calls())).found));
});
