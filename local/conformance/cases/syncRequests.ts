/** §6.1 and §1.5: mutations and actions over a socket, and through the official client. */
import { ConvexClient } from "convex/browser";
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import type { Step } from "../app/convex/rows.js";
import { newGroup, NO_WIRE, type Case } from "../case.js";
import { decodeTs, updated, withSocket, type RawSocket } from "../rawSocket.js";
import type { Target } from "../target.js";
import { all, answers, isTransition, look, over, tells } from "./socketCase.js";

/** Keeps a row busy until `done`, so that a mutation which reads it and waits can never commit. */
async function keepBusy(target: Target, group: string, ids: string[], done: () => boolean) {
  for (let n = 2; !done(); n++) {
    const steps: Step[] = [{ op: "patch", at: 0, value: { n } }];
    await target.mutation(api.rows.only, { group, ids, steps });
  }
}

/**
 * A mutation that reads a row and thinks, while the row is written again and again; then it does `steps`. Gives how its
 * socket was closed. Where writing is slow it gets through, and must think for longer.
 */
async function starve(socket: RawSocket, target: Target, group: string, steps: Step[]) {
  const ids = await target.mutation(api.rows.seed, { group, ns: [1] });
  let ended = false;
  const busy = keepBusy(target, group, ids, () => ended);
  try {
    for (const [requestId, ms] of [100, 200, 400, 800].entries()) {
      const thinks: Step[] = [{ op: "get", at: 0 }, { op: "hold", ms }, ...steps];
      socket.mutation(requestId, "rows:only", { group, ids, steps: thinks as never });
      const answered = socket.until(answers(requestId)).then(
        () => null,
        () => null,
      );
      const end = await Promise.race([socket.closed, answered]);
      if (end !== null) return end;
    }
    throw new Error("It got through every time: no write came while it waited.");
  } finally {
    ended = true;
    await busy;
  }
}

export const syncRequests: Case[] = [
  over(
    "6.1.response-before-transition",
    "a mutation's response comes before the transition that shows its effect",
    async (socket, _, group) => {
      socket.modify(look(0, group));
      await socket.until(tells(0));
      socket.mutation(1, "rows:seed", { group, ns: [1] });
      const messages = await socket.through(
        (message) => updated(message, 0)?.["value"]?.[0]?.length === 1,
      );
      const response = messages.find(answers(1))!;
      expect(response).toMatchObject({ success: true });
      const shown = messages.at(-1)!;
      expect(decodeTs(shown["endVersion"].ts as string)).toBeGreaterThanOrEqual(
        decodeTs(response["ts"] as string),
      );
    },
  ),
  over(
    "6.1.empty-transition",
    "a mutation that changes no query is followed by a transition to its timestamp too",
    async (socket, _, group) => {
      socket.modify(look(0, `${group}-other`));
      await socket.until(tells(0));
      socket.mutation(1, "rows:seed", { group, ns: [1] });
      const response = await socket.until(answers(1));
      const ts = decodeTs(response["ts"] as string);
      const transition = await socket.until(
        (message) => isTransition(message) && decodeTs(message["endVersion"].ts as string) >= ts,
      );
      expect(transition["modifications"]).toEqual([]);
    },
  ),
  over(
    "6.1.mutations-in-order",
    "mutations of one socket run one after the other, in the order in which they were sent",
    async (socket, target, group) => {
      for (let n = 1; n <= 6; n++) socket.mutation(n, "stamps:add", { group, ns: [n] });
      await socket.until(answers(6));
      expect((await target.query(api.stamps.list, { group })).map(({ n }) => n)).toEqual([
        1, 2, 3, 4, 5, 6,
      ]);
    },
  ),
  over(
    "6.1.failed-mutation",
    "a mutation that throws is answered with its words and data",
    async (socket, _, group) => {
      socket.mutation(1, "calls:fail", { group, how: "data" });
      expect(await socket.until(answers(1))).toMatchObject({
        type: "MutationResponse",
        success: false,
        result: expect.stringContaining("ConvexError") as unknown,
        errorData: { code: "told", group },
      });
    },
  ),
  over(
    "6.1.actions",
    "actions are answered, and run beside one another",
    async (socket, _, group) => {
      // The first waits longer than the second, which is sent later.
      socket.action(1, "runtime:actionClock", {});
      socket.action(2, "calls:actionCallsAction", { group });
      const responses = [
        await socket.until((m) => m.type === "ActionResponse"),
        await socket.until((m) => m.type === "ActionResponse"),
      ];
      expect(responses.map((response) => response["requestId"]).sort()).toEqual([1, 2]);
      expect(responses.find(answers(2))).toMatchObject({ success: true, result: `inner ${group}` });
    },
  ),
  {
    id: "6.1.idempotent",
    says: "a mutation that a session sends again is not applied again, and gets the recorded answer",
    convexTest: NO_WIRE,
    run: async (target) => {
      const group = newGroup();
      const sessionId = crypto.randomUUID();
      const results: unknown[] = [];
      for (const connectionCount of [0, 1]) {
        await withSocket(
          target.server(),
          async (socket) => {
            socket.mutation(7, "rows:seed", { group, ns: [1] });
            const response = await socket.until(answers(7));
            results.push({ result: response["result"] as unknown, ts: response["ts"] as unknown });
          },
          { sessionId, connectionCount },
        );
      }
      expect(results[1]).toEqual(results[0]);
      expect(await target.query(api.rows.look, { group, ids: [], steps: [all] })).toEqual([[1]]);
    },
  },
  {
    id: "6.1.sessions-apart",
    says: "the same number in another session is another mutation",
    convexTest: NO_WIRE,
    run: async (target) => {
      const group = newGroup();
      for (const n of [1, 2]) {
        await withSocket(target.server(), async (socket) => {
          socket.mutation(7, "rows:seed", { group, ns: [n] });
          await socket.until(answers(7));
        });
      }
      expect(await target.query(api.rows.look, { group, ids: [], steps: [all] })).toEqual([[1, 2]]);
    },
  },
  over(
    "1.5.socket-closed",
    "a mutation that keeps losing closes its socket, to be tried again",
    async (socket, target, group) => {
      const { code, reason } = await starve(socket, target, group, [{ op: "insert", n: -1 }]);
      expect({ code, reason }).toEqual({
        code: 1013,
        reason: expect.stringContaining("OptimisticConcurrencyControlFailure") as unknown,
      });
    },
  ),
  over(
    "1.3.socket-validated",
    "over a socket a mutation that wrote nothing is validated: the request itself is recorded",
    async (socket, target, group) => {
      const end = await starve(socket, target, group, []);
      expect(end.code).toBe(1013);
    },
  ),
  {
    id: "6.1.client",
    says: "the official client sees its own mutation when its promise resolves, and other clients' soon",
    convexTest: NO_WIRE,
    run: async (target) => {
      const group = newGroup();
      const client = new ConvexClient(target.server().url, { logger: false });
      try {
        let rows: number[] = [];
        const args = { group, ids: [], steps: [all] };
        const until = (count: number) =>
          new Promise<void>((resolve) => {
            const stop = client.onUpdate(api.rows.look, args, (value) => {
              rows = (value as [number[]])[0];
              if (rows.length >= count) {
                stop();
                resolve();
              }
            });
          });
        client.onUpdate(api.rows.look, args, (value) => (rows = (value as [number[]])[0]));
        await until(0);
        await client.mutation(api.rows.seed, { group, ns: [1] });
        expect(rows).toEqual([1]);
        await target.mutation(api.rows.seed, { group, ns: [2] });
        await until(2);
        expect(rows).toEqual([1, 2]);
      } finally {
        await client.close();
      }
    },
  },
];
