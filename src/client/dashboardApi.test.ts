/** Leave for every query and every action of the dashboard, its own tests. */
import type { FunctionReference } from "convex/server";
import { ConvexError } from "convex/values";
import { describe, expect, test } from "vitest";
import {
  asked,
  everything,
  fill,
  names,
  newApp,
  options,
  read,
  type Jobs,
  write,
} from "./dashboardSetup.test.js";
import { vDashboardRead, vDashboardWrite, type DashboardAnswers } from "../shared/index.js";
import { refusal, type App } from "./setup.test.js";

type Name = keyof DashboardAnswers;
type Args = Record<string, unknown>;

/** The arguments of each call, the call that `authorize` receives, and the answer. */
interface Case {
  args: (jobs: Jobs) => Args;
  asks: (jobs: Jobs) => object;
  answers: unknown;
}

const queue = "tiles";
const one = (key: keyof Jobs) => (jobs: Jobs) => ({ queue, id: jobs[key] });
const job =
  (key: keyof Jobs, kind = "job") =>
  (jobs: Jobs) => ({ kind, queue, id: jobs[key] });
const filter = { statuses: ["pending" as const] };

const may = ["pause", "resume", "drain", "cancelMany", "retryMany", "deleteMany"];

const QUERIES: [Name, Case][] = [
  [
    "overview",
    {
      args: () => ({}),
      asks: () => ({ kind: "overview" }),
      answers: {
        queues: [
          { state: { name: "loose" }, may },
          { state: { name: "tiles" }, gauge: { counts: { failed: { count: 1 } } }, may },
        ],
        more: false,
      },
    },
  ],
  [
    "queue",
    {
      args: () => ({ queue }),
      asks: () => ({ kind: "queue", queue }),
      answers: { state: { name: queue }, gauge: { counts: { running: { count: 1 } } }, may },
    },
  ],
  [
    "job",
    {
      args: one("pending"),
      asks: job("pending"),
      answers: { job: { status: "pending" }, may: ["cancel", "retry", "delete"] },
    },
  ],
  [
    "list",
    {
      args: () => ({
        ...{ queue, filter: { status: "failed" }, order: "newest" },
        paginationOpts: { numItems: 10, cursor: null },
      }),
      asks: () => ({ kind: "list", queue }),
      answers: { page: [{ status: "failed" }], isDone: true },
    },
  ],
  [
    "why",
    {
      args: one("pending"),
      asks: job("pending", "why"),
      answers: { why: { status: "pending" }, position: { ahead: 0, more: false } },
    },
  ],
  [
    "logs",
    { args: one("running"), asks: job("running", "logs"), answers: { entries: [{ entry: 0 }] } },
  ],
  [
    "output",
    { args: one("running"), asks: job("running", "output"), answers: { parts: [{ index: 0 }] } },
  ],
  [
    "stats",
    {
      args: () => ({ queue, per: "minute", count: 2 }),
      asks: () => ({ kind: "stats", queue }),
      answers: { per: "minute", periods: [{ succeeded: 0 }, { succeeded: 0 }] },
    },
  ],
  [
    "workers",
    {
      args: () => ({}),
      asks: () => ({ kind: "workers" }),
      answers: [{ name: "w", holding: [{ queue }], may: ["quietWorker"] }],
    },
  ],
  [
    "mainLoop",
    {
      args: () => ({}),
      asks: () => ({ kind: "mainLoop" }),
      answers: { status: "idle", places: { used: 0, left: 56 }, queues: [] },
    },
  ],
  [
    "events",
    {
      args: () => ({ queue, limit: 5 }),
      asks: () => ({ kind: "events", queue }),
      answers: [],
    },
  ],
];

const change = (kind: string, answers: object): Case => ({
  args: () => ({ queue }),
  asks: () => ({ kind, queue }),
  answers,
});
const many = (kind: string): Case => ({
  args: () => ({ queue, filter }),
  asks: () => ({ kind, queue, filter }),
  answers: { isDone: true },
});
const act = (kind: string, key: keyof Jobs, answers: object): Case => ({
  args: one(key),
  asks: (jobs) => ({ kind, queue, id: jobs[key] }),
  answers,
});

const ACTIONS: [Name, Case][] = [
  ["pause", change("pause", { changed: true })],
  ["resume", change("resume", { changed: false })],
  ["drain", change("drain", { changed: true })],
  ["cancel", act("cancel", "pending", { canceled: true })],
  ["retry", act("retry", "failed", { retried: true })],
  ["delete", act("delete", "succeeded", { deleted: true })],
  ["cancelMany", many("cancelMany")],
  ["retryMany", { ...many("retryMany"), ...failedOnes() }],
  ["deleteMany", many("deleteMany")],
  ["quietWorker", ofWorker("quietWorker", { changed: true })],
  ["resumeWorker", ofWorker("resumeWorker", { changed: false })],
];

function ofWorker(kind: string, answers: object): Case {
  return {
    args: ({ worker }) => ({ id: worker }),
    asks: ({ worker }) => ({ kind, id: worker }),
    answers,
  };
}

function failedOnes(): Case {
  const failed = { statuses: ["failed" as const] };
  return {
    args: () => ({ queue, filter: failed }),
    asks: () => ({ kind: "retryMany", queue, filter: failed }),
    answers: { changed: 1 },
  };
}

const query = async (t: App, kind: Name, { paginationOpts, ...args }: Args): Promise<unknown> => {
  const [of, asked] = read({ kind, ...args } as never) as [FunctionReference<"query">, Args];
  return await t.query(of, { ...asked, ...(paginationOpts ? { paginationOpts } : {}) });
};
const mutation = async (t: App, kind: Name, args: Args): Promise<unknown> => {
  const [of, asked] = write({ kind, ...args } as never) as [FunctionReference<"mutation">, Args];
  return await t.mutation(of, asked);
};

/** Answers of `authorize` that are no permission, by mistake too. */
const NOS: unknown[] = [false, undefined, null, "yes", 1, {}, Promise.resolve(false)];

/** Every way to refuse, set one after the other; one that throws passes its own error on. */
async function eachNo(call: () => Promise<unknown>): Promise<void> {
  for (const no of NOS) {
    options.authorize = (() => no) as () => boolean;
    expect((await refusal(call(), "forbidden"))["ask"]).toBe("authorize");
  }
  for (const none of [undefined, "Public", true]) {
    Object.assign(options, { authorize: none });
    await refusal(call(), "forbidden");
  }
  options.authorize = () => {
    throw new ConvexError("Not you.");
  };
  await expect(call()).rejects.toMatchObject({ data: "Not you." });
  options.authorize = () => Promise.reject(new Error("The app is broken."));
  await expect(call()).rejects.toThrow("The app is broken.");
}

test("there is a case for every operation of the dashboard", () => {
  const kinds = [vDashboardRead, vDashboardWrite].map(({ members }) =>
    members.map(({ fields }) => fields.kind.value as string),
  );
  expect([QUERIES, ACTIONS].map((cases) => cases.map(([name]) => name).sort())).toEqual(
    kinds.map((of) => of.sort()),
  );
  expect(names).toEqual(["read", "write"]);
});

describe("a query of the dashboard", () => {
  test.each(QUERIES)(
    "%s answers a caller that `authorize` accepts, and asks first",
    async (name, of) => {
      const t = newApp();
      const jobs = await fill(t);
      expect(await query(t, name, of.args(jobs))).toMatchObject(of.answers as object);
      expect(asked[0]).toEqual({ ...of.asks(jobs), changes: false });
    },
  );

  test.each(QUERIES)("%s shows nothing without leave", async (name, of) => {
    const t = newApp();
    const jobs = await fill(t);
    await eachNo(() => query(t, name, of.args(jobs)));
  });

  test.each(QUERIES)("%s reads nothing before `authorize` has answered", async (name, of) => {
    // Any read of a component that is not there is another error.
    const t = newApp({ mounted: false });
    const args = of.args({ pending: "a", running: "b" } as Jobs);
    await eachNo(() => query(t, name, args));
    options.authorize = () => true;
    await refusal(query(t, name, args), "componentNotMounted");
  });
});

describe("an action of the dashboard", () => {
  test.each(ACTIONS)(
    "%s is done for a caller that `authorize` accepts, and asks first",
    async (name, of) => {
      const t = newApp();
      const jobs = await fill(t);
      const before = await everything(t);
      const reply = (await mutation(t, name, of.args(jobs))) as object;
      expect(reply).toMatchObject(of.answers as object);
      expect(asked[0]).toEqual({ ...of.asks(jobs), changes: true });
      if (!name.startsWith("resume")) expect(await everything(t)).not.toEqual(before);
    },
  );

  test.each(ACTIONS)("%s changes nothing without leave", async (name, of) => {
    const t = newApp();
    const jobs = await fill(t);
    const before = await everything(t);
    await eachNo(() => mutation(t, name, of.args(jobs)));
    expect(await everything(t)).toEqual(before);
  });

  test.each(ACTIONS)("%s does nothing before `authorize` has answered", async (name, of) => {
    const t = newApp({ mounted: false });
    const args = of.args({ pending: "a", failed: "b", succeeded: "c", worker: "d" } as Jobs);
    await eachNo(() => mutation(t, name, args));
    options.authorize = () => true;
    await refusal(mutation(t, name, args), "componentNotMounted");
  });

  test.each(ACTIONS)(
    "%s is refused where `authorize` lets callers read, and not act",
    async (name, of) => {
      const t = newApp();
      const jobs = await fill(t);
      options.authorize = (_ctx, call) => !call.changes;
      const { message } = await refusal(mutation(t, name, of.args(jobs)), "forbidden");
      expect(message).toContain("`authorize` of the dashboard did not answer true.");
    },
  );
});

describe("a job of another queue", () => {
  test.each(["job", "why", "logs", "output"] as const)("is none to %s", async (name) => {
    const t = newApp();
    const { other } = await fill(t);
    expect(await query(t, name, { queue, id: other })).toBeNull();
    expect(await query(t, name, { queue, id: "nonsense" })).toBeNull();
    expect(await query(t, name, { queue: "loose", id: other })).not.toBeNull();
  });

  test.each(["cancel", "retry"] as const)("is unknown to %s", async (name) => {
    const t = newApp();
    const { other } = await fill(t);
    const before = await everything(t);
    await refusal(mutation(t, name, { queue, id: other }), "unknownJob");
    expect(await everything(t)).toEqual(before);
  });

  test("is not there for delete", async () => {
    const t = newApp();
    const { other } = await fill(t);
    const before = await everything(t);
    expect(await mutation(t, "delete", { queue, id: other })).toEqual({ deleted: false });
    expect(await everything(t)).toEqual(before);
  });

  test("is not touched by a change of many jobs", async () => {
    const t = newApp();
    const { other } = await fill(t);
    await t.mutation(...write({ kind: "cancelMany", queue, filter: {} }));
    await t.mutation(...write({ kind: "deleteMany", queue, filter: {} }));
    expect(await query(t, "job", { queue: "loose", id: other })).toMatchObject({
      job: { status: "pending" },
    });
  });
});

describe("the overview", () => {
  test("leaves out queues that the caller may not see, and reads nothing of them", async () => {
    const t = newApp();
    await fill(t);
    const seen = async () => (await t.query(...read({ kind: "overview" }))).queues;
    options.authorize = (_ctx, call) => call.kind === "overview";
    expect(await seen()).toEqual([]);
    options.authorize = (_ctx, call) => {
      if ("queue" in call && call.queue === "tiles") throw new ConvexError("Not you.");
      return true;
    };
    expect(await seen()).toMatchObject([{ state: { name: "loose" } }]);
  });

  test("has the actions of each queue that `authorize` allows", async () => {
    const t = newApp();
    await fill(t);
    options.authorize = (_ctx, call) =>
      !call.changes || (call.queue === "tiles" && call.kind !== "deleteMany");
    const { queues } = await t.query(...read({ kind: "overview" }));
    expect(queues.map((one) => one.may)).toEqual([[], may.slice(0, -1)]);
    options.authorize = (_ctx, call) => !call.changes;
    expect(await t.query(...read({ kind: "queue", queue }))).toMatchObject({ may: [] });
  });

  test("of a queue that no code has declared is none", async () => {
    const t = newApp();
    expect(await t.query(...read({ kind: "overview" }))).toEqual({ queues: [], more: false });
    expect(await t.query(...read({ kind: "queue", queue: "nobody" }))).toBeNull();
  });
});

describe("the buttons of a job's page", () => {
  test("are the buttons that `authorize` allows for this very job, even where it throws for another one", async () => {
    const t = newApp();
    const { pending, running } = await fill(t);
    options.authorize = (_ctx, call) => {
      if (call.kind === "delete") throw new Error("Deletes are refused.");
      return !call.changes || (call.kind === "cancel" && call.id === pending);
    };
    expect(await query(t, "job", { queue, id: pending })).toMatchObject({ may: ["cancel"] });
    expect(await query(t, "job", { queue, id: running })).toMatchObject({ may: [] });
  });
});

test("`authorize` receives the caller's identity, and may read the app's tables", async () => {
  const t = newApp();
  await fill(t);
  options.authorize = async (ctx) => {
    const rows = await ctx.db.query("done").collect();
    return rows.length > 0 && (await ctx.auth.getUserIdentity())?.subject === "ann";
  };
  const ann = t.withIdentity({ subject: "ann" });
  expect(await ann.query(...read({ kind: "workers" }))).toHaveLength(1);
  await refusal(
    t.withIdentity({ subject: "bob" }).query(...read({ kind: "workers" })),
    "forbidden",
  );
});
