import { expect, test } from "vitest";
import { PlatformError } from "../../functions/errors.js";
import type { Call, Calls } from "../calls.js";
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

test("a refused mutation is not overtaken: those behind it wait for the client's next connection", async () => {
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
        // As a socket: it closes a moment after it was told to.
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
