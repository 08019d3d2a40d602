import { expect, test } from "vitest";
import type { Doc } from "../_generated/dataModel.js";
import { mayTake, type Taker, type Verdict } from "./mayTake.js";
import { offerOf } from "../rows/conditions.js";
import { queueOf } from "../rows/queues.js";
import type { Rules } from "../rows/jobRules.js";

const NOW = 1_000_000;
const handler = { kind: "action", handle: "function://send", takes: "payload" } as const;
const config = { leaseMs: 10_000, maxResets: 0, shards: 1, push: true, timeoutMs: 60_000, handler };
const row = {
  _id: "q",
  name: "emails",
  epoch: 0,
  shardsEver: 1,
  config,
} as unknown as Doc<"queues">;
const plain = { status: "pending", attempt: 0 } as Doc<"jobs">;

interface Case {
  job?: Partial<Doc<"jobs">>;
  queue?: object;
  offer?: Parameters<typeof offerOf>[0];
  rules?: Partial<Rules>;
  taker?: Partial<Taker>;
}

function verdict({ job, queue, offer = {}, rules, taker }: Case): Verdict {
  const of = queueOf({ ...row, ...queue });
  const by = { offer: offerOf(offer), cost: 0, isLane: true, endsAt: Infinity, now: NOW, ...taker };
  return mayTake(by, of, { ...plain, ...job }, { ...of.config, ...rules });
}

test.each<[string, Verdict, Case]>([
  ["that asks for nothing", "take", {}],
  ["that has labels", "leave", { job: { labels: ["gpu"] } }],
  [
    "with labels that are offered",
    "take",
    { job: { labels: ["gpu"] }, offer: { labels: ["gpu"] } },
  ],
  ["of another group", "leave", { job: { group: "a" }, offer: { groups: ["b"] } }],
  [
    "that costs more than is left",
    "leave",
    { job: { cost: 3 }, offer: { maxCost: 4 }, taker: { cost: 2 } },
  ],
  [
    "that costs what is left",
    "take",
    { job: { cost: 2 }, offer: { maxCost: 4 }, taker: { cost: 2 } },
  ],
  ["that is paused", "leave", { job: { paused: true } }],
  ["of a paused queue", "leave", { queue: { pausedAt: 1 } }],
  ["that runs", "leave", { job: { status: "running" } }],
  ["that has expired", "leave", { job: { expiresAt: NOW } }],
  ["that expires in a millisecond", "take", { job: { expiresAt: NOW + 1 } }],
  ["whose deadline has passed", "leave", { job: { deadline: { ms: 1, at: NOW }, attempt: 1 } }],
  ["that was begun before it expired", "take", { job: { expiresAt: NOW, attempt: 1 } }],
  ["that outlasts the process", "tooLong", { taker: { endsAt: NOW + 59_999 } }],
  ["that ends with the process", "take", { taker: { endsAt: NOW + 60_000 } }],
  [
    "whose own time outlasts the process",
    "tooLong",
    { rules: { timeoutMs: 90_000 }, taker: { endsAt: NOW + 60_000 } },
  ],
  ["without a handler", "leave", { queue: { config: { ...config, handler: undefined } } }],
  [
    "with a handler of its own",
    "take",
    { queue: { config: { ...config, handler: undefined } }, rules: { handler } },
  ],
  [
    "of a queue that only workers serve",
    "leave",
    { queue: { config: { ...config, push: undefined } } },
  ],
])("a lane and a job %s: %s", (_, expected, given) => {
  expect(verdict(given)).toBe(expected);
});

test("a worker needs no handler of the queue, and its process has no end that is known", () => {
  const queue = { config: { ...config, push: undefined, handler: undefined } };
  expect(verdict({ queue, taker: { isLane: false, endsAt: NOW } })).toBe("take");
});

test("a job of a queue from which the claim does not take is left", () => {
  const by = { offer: offerOf({}), cost: 0, isLane: false, endsAt: Infinity, now: NOW };
  expect(mayTake(by, undefined, plain, queueOf(row).config)).toBe("leave");
});
