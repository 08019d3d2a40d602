/** One process of a pool, in place of which a test hears the orders and answers. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Member, type Forked } from "./member.js";
import type { NumberedOrder } from "./messages.js";

/** A process that answers when the test says so. */
function newMember() {
  const child = new EventEmitter();
  const orders: NumberedOrder[] = [];
  const send = (order: NumberedOrder) => orders.push(order) > 0;
  const forked = Object.assign(child, { pid: 1, connected: true, kill: () => true, send });
  const unknown: unknown[] = [];
  const member = new Member({
    ...{ id: 1, name: "pool:1", generation: 0, startedAt: { now: 0, date: 0 } },
    fork: () => forked as unknown as Forked,
    onUnknown: (message) => unknown.push(message),
  });
  const load = { state: "waiting", slots: { used: 0, had: 2 }, done: 0, memoryBytes: 1e6 };
  const acknowledge = (id: unknown) => child.emit("message", { type: "acknowledged", id, load });
  return { member, orders, unknown, acknowledge };
}

/** Whether it has resolved when all that waits for promises has run. */
async function hasResolved(promise: Promise<void>): Promise<boolean> {
  let is = false;
  void promise.then(() => (is = true));
  await new Promise(setImmediate);
  return is;
}

// Shows CR-11.
test("orders have numbers that grow, a check's own included, and one that is acknowledged is not sent again", () => {
  const { member, orders, acknowledge } = newMember();
  void member.order({ type: "quiet" });
  void member.order({ type: "resume" });
  expect(member.check()).toBe(1);
  acknowledge(1);
  acknowledge(2);
  expect(member.check()).toBe(0);
  acknowledge(3);
  expect(member.check()).toBe(0);
  expect(orders).toEqual([
    ...[
      { type: "quiet", id: 1 },
      { type: "resume", id: 2 },
    ],
    ...[
      { type: "ping", id: 3 },
      { type: "ping", id: 4 },
    ],
  ]);
});

// Shows CR-11.
test("an acknowledgement with another number does not count: the order waits on, from check to check", async () => {
  const { member, acknowledge } = newMember();
  const first = member.order({ type: "quiet" });
  const second = member.order({ type: "ping" });
  for (const id of [0, 3, 99, -1, "1", undefined, null]) acknowledge(id);
  expect(await hasResolved(first)).toBe(false);
  acknowledge(2);
  expect([await hasResolved(first), await hasResolved(second)]).toEqual([false, true]);
  expect([member.check(), member.check(), member.check()]).toEqual([1, 2, 3]);
  // Twice is as once.
  acknowledge(1);
  acknowledge(1);
  expect(await hasResolved(first)).toBe(true);
  expect(member.check()).toBe(0);
});
