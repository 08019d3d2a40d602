import { describe, expect, test } from "vitest";
import { PlatformError } from "../../functions/errors.js";
import type { Call, Calls } from "../calls.js";
import { MAX_QUEUED_MUTATIONS, MAX_RUNNING_ACTIONS } from "../limits.js";
import type { FunctionRequest, PlainMessage } from "./messages.js";
import { MutationLedger } from "./mutationLedger.js";
import { RequestQueue } from "./requestQueue.js";

const anyone = { kind: "none" } as const;
const mutation = (requestId: number, udfPath: string): FunctionRequest => ({
  type: "Mutation",
  requestId,
  udfPath,
  args: [{}],
});

test("a refused mutation is not overtaken: later ones wait for the client's next connection", async () => {
  const ran: string[] = [];
  let refusals = 1;
  const calls = {
    mutation: async ({ path }: Call) => {
      await Promise.resolve();
      if (refusals-- > 0) throw new PlatformError(503, "OptimisticConcurrencyControlFailure", "");
      ran.push(path);
      return { ok: true, value: null, ts: 1n, logs: [] };
    },
  } as unknown as Calls;
  const ledger = new MutationLedger();
  /** A connection that sends all three, and tells when it is refused or all are answered. */
  const connection = () =>
    new Promise<"refused" | "answered">((resolve) => {
      const replies: PlainMessage[] = [];
      const queue = new RequestQueue({
        calls,
        ledger,
        reply: (message) => replies.push(message) === 3 && resolve("answered"),
        // As a socket: it closes a moment after the refusal.
        refuse: () => setTimeout(() => (queue.close(), resolve("refused")), 5),
      });
      ["m:first", "m:second", "m:third"].forEach((path, requestId) =>
        queue.mutate("session", mutation(requestId, path), anyone),
      );
    });
  expect(await connection()).toBe("refused");
  expect(ran).toEqual([]);
  expect(await connection()).toBe("answered");
  expect(ran).toEqual(["m:first", "m:second", "m:third"]);
});

describe("one client's socket", () => {
  const never = { mutation: () => new Promise(() => {}), action: () => new Promise(() => {}) };
  const busy = () =>
    new RequestQueue({
      calls: never as unknown as Calls,
      ledger: new MutationLedger(),
      reply: () => {},
      refuse: () => {},
    });

  test("may have as many mutations waiting behind the one that runs, and is rate limited with one more", () => {
    const queue = busy();
    for (let id = 0; id <= MAX_QUEUED_MUTATIONS; id++) {
      queue.mutate("session", mutation(id, "m:wait"), anyone);
    }
    const oneMore = () => queue.mutate("session", mutation(2000, "m:wait"), anyone);
    expect(oneMore).toThrow(
      expect.objectContaining({
        status: 429,
        code: "TooManyConcurrentMutations",
        message: expect.stringContaining("Only up to 1000 pending mutations"),
      }),
    );
  });

  test("may have as many actions running and one, and is rate limited with one more", () => {
    const queue = busy();
    const act = () => queue.act({ ...mutation(0, "m:wait"), type: "Action" }, anyone);
    for (let id = 0; id <= MAX_RUNNING_ACTIONS; id++) act();
    expect(act).toThrow(
      expect.objectContaining({
        status: 429,
        code: "TooManyInflightActionsForSingleClient",
        message: expect.stringContaining("max concurrency: 1000"),
      }),
    );
  });
});
