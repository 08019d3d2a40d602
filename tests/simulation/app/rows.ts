/** The app's own tables as queues, and the functions that programs outside call for them. */
import { Conveyor } from "../../../src/client/index.js";
import type { ROWS } from "./names.js";
import { LOOP } from "./names.js";
import { vDone } from "./payload.js";
import { ofKind } from "./queues.js";
import { conveyorComponent, internal, internalMutation, type DataModel } from "./server.js";

type Table = (typeof ROWS)[number];

const conveyor = new Conveyor<DataModel>(conveyorComponent);
const shared = {
  index: "state",
  columns: { state: "state", cancel: "stop", result: "result" },
  states: {
    ...{ pending: "new", running: "busy" },
    ...{ succeeded: "done", failed: "bad", canceled: "stopped" },
  },
  result: vDone,
  maxResets: 3,
  retry: { maxAttempts: 3, initialBackoffMs: 500 },
  leaseMs: 6_000,
} as const;

export const tables = {
  notes: conveyor.tableQueue("notes", {
    ...shared,
    functions: () => internal.notes as unknown,
    record: async (ctx, { row }) => await ctx.db.patch(row._id, { ends: row.ends + 1 }),
  }),
  documents: conveyor.tableQueue("documents", {
    ...shared,
    functions: () => internal.documents as unknown,
    announced: true,
    record: async (ctx, { row }) => await ctx.db.patch(row._id, { ends: row.ends + 1 }),
  }),
};
export const tallies = conveyor.tableQueue(LOOP, {
  functions: () => internal.tallies as unknown,
  index: "state",
  columns: { state: "state" },
  states: { pending: "new", running: "busy", succeeded: "done", failed: "bad" },
  loop: { rows: 3 },
});

/** The queue's `onComplete`: the row's end, and the evidence of it. */
export const recordOf = (table: Table) =>
  internalMutation({
    handler: async (ctx, end: any): Promise<null> => {
      const { id, payload, attempt, outcome } = end;
      const n = ((await ctx.db.get(payload as never)) as { n: number } | null)?.n ?? -1;
      const isBroken = (await ctx.db.query("broken").first()) !== null;
      if (isBroken && n % 2 === 0) throw new Error("The app is broken.");
      await ctx.runMutation(internal[table].recordRow, end);
      const { status } = outcome;
      await ctx.db.insert("told", { n, job: id, attempt, status, context: null });
      return null;
    },
  });

/** A worker of rows may serve a plain queue too. */
export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [tables.notes, tables.documents, ofKind.pulled[0]!],
  continueWith: [ofKind.pulled[0]!],
});
