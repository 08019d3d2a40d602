/** Conveyor with many queues in one app, all for workers outside: which of them a job lies in goes by its number. */
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, entries, vWork } from "./builders.js";

const conveyor = new Conveyor(components.conveyor);
const count = Number(process.env.QUEUES ?? "1");
const queues = Array.from({ length: count }, (_, at) =>
  conveyor.queue(`jobs${at}`, { payload: vWork, result: v.null() }),
);
/** Into how many of them jobs come. */
const filled = Number(process.env.FILLED ?? count);
/** A multiplication scatters the numbers, so that neighbours in time lie in queues far apart, and sometimes in one. */
const queueOf = (n: number) => queues[(Math.imul(n + 1, 0x9e3779b1) >>> 8) % filled]!;

export const { enqueue, enqueueAll } = entries({
  one: (ctx, work) => queueOf(work.n).enqueue(ctx, work),
});

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues });

export const { create } = conveyor.tokenApi();
