/**
 * Handlers inside Convex that break every rule of handlers, many in one lane: each costs its own attempt, and its neighbours in
 * the lane succeed. In virtual time, on the deployment class with the least room.
 */
import { ConvexError } from "convex/values";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";
import { outcomeOfError } from "../../src/worker/outcome.js";

const COMPONENT = { componentPath: "conveyor" };

let app: VirtualApp;
let client: ReturnType<VirtualApp["world"]["httpClient"]>;
beforeAll(async () => {
  app = await startVirtualApp({ seed: 7 });
  client = app.world.httpClient();
});
afterAll(async () => await app.world.close());

type Job = {
  status: string;
  error?: string;
  result?: unknown;
  failures: number;
  attempt: number;
  lastError?: string;
};
type Which = "odd" | "inlined" | "hashes" | "ledger";

async function look(queue: Which, ids: string[]): Promise<Job[]> {
  return (await app.world.run(client.query(api.odd.look, { queue, ids }))) as Job[];
}

/** Enqueues them together, lets them end or be delayed, and returns their final rows. */
async function play<What extends string>(
  queue: Which,
  payloads: readonly What[],
  ms = 12_000,
): Promise<Record<What, Job & { id: string }>> {
  const ids = await app.world.run(
    client.mutation(api.odd.enqueue, { queue, payloads: [...payloads] }),
  );
  await app.world.advance(ms);
  const jobs = await look(queue, ids);
  return Object.fromEntries(
    payloads.map((what, i) => [what, { ...jobs[i]!, id: ids[i]! }]),
  ) as Record<What, Job & { id: string }>;
}

const ODD = [
  "returns",
  "returns nothing",
  "returns too much",
  "returns a cycle",
  "returns a function",
  "returns depth",
  "throws a string",
  "throws undefined",
  "throws much",
  "throws a cycle",
  "throws an error",
  "throws a ConvexError",
  "never again",
  "later",
  "snoozes",
  "never settles",
  "talks",
] as const;

describe.each(["odd", "inlined"] as const)("in the queue %s", (queue) => {
  let jobs: Record<(typeof ODD)[number], Job & { id: string }>;
  beforeAll(async () => {
    jobs = await play(queue, ODD);
  });

  test("handlers without a fault succeed, beside all faults in their lane", () => {
    expect(jobs.returns).toMatchObject({ status: "succeeded", result: "fine" });
    expect(jobs["returns nothing"]).toMatchObject({ status: "succeeded", result: null });
    expect(jobs.talks).toMatchObject({ status: "succeeded" });
  });

  // Shows WP-22.
  test.each([
    ["returns too much", /./],
    ["returns a cycle", /./],
    ["returns a function", /./],
    ["returns depth", /./],
    ["throws a string", /a string/],
    ["throws undefined", /./],
    ["throws much", /xxx/],
    ["throws a cycle", /./],
    ["throws a ConvexError", /odd/],
    ["never again", /^It would fail again\./],
  ] as const)("one that %s fails, and says why", (what, error) => {
    expect(jobs[what]).toMatchObject({ status: "failed", error: expect.stringMatching(error) });
    expect(jobs[what].error!.length).toBeLessThan(5_000);
  });

  test("a handler that never settles times out, and keeps no place", () => {
    expect(jobs["never settles"]).toMatchObject({
      status: "timedOut",
      error: expect.stringMatching(/longer than its timeoutMs/),
    });
  });

  test("one that snoozes comes back later, without a failure", () => {
    expect(jobs.snoozes).toMatchObject({ status: "scheduled", failures: 0 });
  });

  test("a handler's log and output are there when its job has ended", async () => {
    const { id } = jobs.talks;
    expect(await app.world.run(client.query(api.odd.heard, { queue, id }))).toEqual({
      logs: ["begun, and changed"],
      output: "a line\nand the rest",
    });
  });
});

/** The error that a worker outside stores for the same throw: the text is made in its own process. */
const textOf = (thrown: unknown) => {
  const outcome = outcomeOfError(thrown);
  return outcome.kind === "failed" ? outcome.error : null;
};

test.each(["odd", "inlined", "ledger"] as const)(
  "an error thrown in the queue %s reads as in a worker outside, without the platform's words and stack",
  async (queue) => {
    const what = ["throws an error", "throws a ConvexError", "throws a string"] as const;
    const thrown = await play(queue, what, 20_000);
    expect(what.map((one) => thrown[one].error)).toEqual([
      textOf(new TypeError("It broke\nin two: lines.")),
      textOf(new ConvexError({ code: "odd", why: "it is" })),
      textOf("a string"),
    ]);
    const [attempt] = (await app.world.run(
      client.query(api.odd.attempts, { queue, id: thrown["throws an error"].id }),
    )) as { error: string }[];
    expect(attempt).toMatchObject({ outcome: "failed", error: "It broke\nin two: lines." });
  },
);

describe("jobs that are canceled while they run", () => {
  // Rules out D29.
  test("a handler in its own function asks, and ends; its job is canceled", async () => {
    const { world } = app;
    const [id] = await world.run(
      client.mutation(api.odd.enqueue, { queue: "odd", payloads: ["asks"] }),
    );
    await world.advance(1_000);
    await world.run(client.mutation(api.odd.cancel, { queue: "odd", id: id! }));
    await world.advance(1_000);
    expect(await look("odd", [id!])).toMatchObject([{ status: "canceled" }]);
  });

  // Rules out D29.
  test.for(["odd", "inlined"])(
    "in %s, a handler that asks nothing hears of it by its signal within a second",
    async (queue) => {
      const { world } = app;
      const one = { queue, payloads: ["listens"] };
      const [id] = await world.run(client.mutation(api.odd.enqueueLong, one));
      await world.advance(1_500);
      expect(await look(queue as Which, [id!])).toMatchObject([{ status: "running" }]);
      await world.run(client.mutation(api.odd.cancel, { queue, id: id! }));
      await world.advance(1_250);
      expect(await look(queue as Which, [id!])).toMatchObject([{ status: "canceled" }]);
    },
  );
});

test("an inline handler's job is followed by further jobs in the transaction that records its result", async () => {
  const before = await app.world.run(client.query(api.odd.succeeded, {}));
  const { follows } = await play("inlined", ["follows"]);
  expect(follows).toMatchObject({ status: "succeeded", result: { said: "followed" } });
  expect(await app.world.run(client.query(api.odd.succeeded, {}))).toBe(before + 1);
});

describe("handlers of another kind than declared", () => {
  let jobs: Job[];
  beforeAll(async () => {
    const ids = await app.world.run(client.mutation(api.odd.enqueueWrong, {}));
    await app.world.advance(12_000);
    jobs = await look("odd", ids.slice(0, 3));
    jobs.push(...(await look("inlined", ids.slice(3))));
  });

  test("a mutation given as an action fails, and an event of its queue says so", async () => {
    expect(jobs[0]).toMatchObject({ status: "failed" });
    const events = await app.world.call("operate:events", { queue: "odd" }, COMPONENT);
    expect(events).toContainEqual(expect.objectContaining({ kind: "handlerMismatch" }));
  });

  // Rules out D13, P23.
  test("a function that is not there was never begun: its job waits for the deploy that brings it", () => {
    // It is begun again and again, and the moment may be one of these.
    expect(jobs[1]).toMatchObject({
      status: expect.stringMatching(/scheduled|pending|running/),
      failures: 0,
    });
    expect(jobs[1]!.attempt).toBeGreaterThan(1);
  });

  test("a missing function shows in an event of its queue, and in its light", async () => {
    const events = (await app.world.call("operate:events", { queue: "odd" }, COMPONENT)) as {
      kind: string;
    }[];
    expect(events.map(({ kind }) => kind)).toContain("handlerMissing");
    const health = await app.world.call("observe:health", { queue: "odd" }, COMPONENT);
    expect(health).toMatchObject({
      light: "yellow",
      reason: expect.stringMatching(/does not have the handler|was made by another queue/),
    });
  });

  test("a payload that is no object cannot be arguments, and the error says how to fix it", () => {
    expect(jobs[2]).toMatchObject({ status: "failed", error: expect.stringMatching(/job: true/) });
  });

  // Shows WP-17, C5.
  test("in a queue with an inline handler, a job with its own runs in that", () => {
    expect(jobs[3]).toMatchObject({ status: "succeeded", result: null });
  });
});

// Rules out D13.
test("a handler that calls a missing function has begun, and failed: it is not retried", async () => {
  const what = "calls what is not there";
  const played = await play("odd", [what]);
  expect(played[what]).toMatchObject({ status: "failed", attempt: 1 });
});

describe("mutations", () => {
  const BOOKED = [
    "returns",
    "returns nothing",
    "returns depth",
    "is refused what it returns",
    "throws a string",
    "throws undefined",
    "throws an error",
    "throws a ConvexError",
    "throws a cycle",
    "never again",
    "later",
    "writes too much",
    "writes a lot",
    "is told of badly",
  ] as const;
  let jobs: Record<(typeof BOOKED)[number], Job & { id: string }>;
  let booked: string[];
  beforeAll(async () => {
    jobs = await play("ledger", BOOKED, 20_000);
    booked = await app.world.run(client.query(api.odd.booked, {}));
  });

  // Shows SG-10, D2, D16.
  test("have their effects if and only if their job has succeeded, once", () => {
    const succeeded = BOOKED.filter((what) => jobs[what].status === "succeeded");
    expect([...booked].sort()).toEqual([...succeeded].sort());
    expect(succeeded).toEqual(
      expect.arrayContaining(["returns", "returns nothing", "writes a lot", "is told of badly"]),
    );
  });

  // Shows SG-10.
  // Rules out D33.
  test.each([
    ["returns depth", /./],
    ["is refused what it returns", /./],
    ["throws a string", /a string/],
    ["throws undefined", /./],
    ["throws a cycle", /./],
    ["throws a ConvexError", /odd/],
    ["never again", /^It would fail again\./],
    ["writes too much", /./],
  ] as const)("one that %s fails, and nothing of it stays", (what, error) => {
    expect(jobs[what]).toMatchObject({ status: "failed", error: expect.stringMatching(error) });
    expect(booked).not.toContain(what);
  });
});

test("an attempt that is over says nothing more, and asks in vain", async () => {
  const { world } = app;
  const { returns } = await play("odd", ["returns"]);
  const lease = { id: returns.id, attempt: 1 };
  const log = { ...lease, entry: 0, level: "info", message: "late" };
  const report = async (logs: object[]) =>
    await world.call("lib:laneReport", { logs }, { componentPath: "conveyor" });
  expect(await report([log])).toEqual({ answers: [{ ...lease, answer: "leaseLost" }] });
  expect(await report([{ ...log, id: "nonsense" }])).toMatchObject({
    answers: [{ answer: "leaseLost" }],
  });
  const asked = { leases: [lease, { id: "nonsense", attempt: 1 }] };
  expect(await world.call("lib:laneStanding", asked, { componentPath: "conveyor" })).toMatchObject([
    { answer: "leaseLost" },
    { answer: "leaseLost" },
  ]);
});

test("a call of an unknown lane is answered that it holds nothing", async () => {
  const { world } = app;
  const step = {
    lane: "nonsense",
    generation: 1,
    callSeq: 1,
    lastAckedCall: 0,
    execute: [],
    looks: 0,
  };
  const finished = [{ id: "nonsense", attempt: 1, outcome: { kind: "released" } }];
  const reply = (await world.call(
    "lib:laneStep",
    { ...step, finished },
    { componentPath: "conveyor" },
  )) as { answers: unknown; isOver: boolean };
  expect(reply).toMatchObject({ answers: [{ answer: "leaseLost" }], isOver: true });
});

// Shows D1.
test("an inline handler in Node runs its queue's lanes there", async () => {
  const played = await play("hashes", ["a", ""]);
  expect(played.a).toMatchObject({
    status: "succeeded",
    result: expect.stringMatching(/^ca978112/),
  });
  expect(played[""]).toMatchObject({ status: "failed", error: "There is nothing to hash." });
});

describe("a job that must end soon", () => {
  const urgent = async (payload: string) => {
    const args = { payload, deadlineMs: 3_000 };
    return await app.world.run(client.mutation(api.odd.enqueueUrgent, args));
  };
  const exceeded = {
    ...{ status: "timedOut", code: "deadlineExceeded" },
    error: expect.stringMatching(/deadlineMs/),
  };

  test("has timed out at its deadline where its handler never settles, or is not there", async () => {
    const { action, inline, absent } = await urgent("never settles");
    await app.world.advance(6_500);
    expect(await look("odd", [action!, absent!])).toMatchObject([exceeded, exceeded]);
    expect(await look("inlined", [inline!])).toMatchObject([exceeded]);
  });

  test("succeeds in time as any other, with any kind of handler", async () => {
    const { action, inline, mutation } = await urgent("returns");
    await app.world.advance(2_000);
    const ended = [
      ...(await look("odd", [action!])),
      ...(await look("inlined", [inline!])),
      ...(await look("ledger", [mutation!])),
    ];
    expect(ended.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  test("a mutation that runs at its deadline has written if and only if its job has succeeded", async () => {
    const { world } = app;
    const ledger = { queue: "ledger" };
    const payloads = Array.from({ length: 60 }, (_, i) => `deadline ${i}`);
    await world.call("operate:pauseQueue", ledger, COMPONENT);
    const args = { payloads, fromMs: 3_000, stepMs: 50 };
    const ids = await world.run(client.mutation(api.odd.enqueueDeadlines, args));
    await world.advance(3_000);
    await world.call("operate:resumeQueue", ledger, COMPONENT);
    await world.advance(6_000);
    const jobs = await look("ledger", ids);
    const statuses = jobs.map(({ status }) => status);
    expect([...new Set(statuses)].sort()).toEqual(["succeeded", "timedOut"]);
    const late = jobs.filter(({ status }) => status === "timedOut");
    for (const job of late) expect(job).toMatchObject(exceeded);
    // Of some the lane had begun the attempt: the deadline passed before the step that was to run the mutation.
    expect(new Set(late.map(({ attempt }) => attempt))).toEqual(new Set([0, 1]));
    const notes = await world.run(client.query(api.odd.booked, {}));
    const written = notes.filter((what) => payloads.includes(what));
    const succeeded = payloads.filter((_, i) => statuses[i] === "succeeded");
    expect(written.sort()).toEqual(succeeded.sort());
  });

  test("a mutation that would be tried again behind its deadline has timed out, and has written nothing", async () => {
    const args = { payloads: ["later"], fromMs: 3_000, stepMs: 0 };
    const before = await app.world.run(client.query(api.odd.booked, {}));
    const ids = await app.world.run(client.mutation(api.odd.enqueueDeadlines, args));
    await app.world.advance(1_500);
    expect(await look("ledger", ids)).toMatchObject([
      { ...exceeded, failures: 1, error: expect.stringMatching(/^Not now\. \(not retried, since/) },
    ]);
    expect(await app.world.run(client.query(api.odd.booked, {}))).toEqual(before);
  });
});
