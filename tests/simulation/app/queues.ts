/**
 * One queue of each kind. Code says what cannot be changed while it runs; all else (leases, retries, parallelism, shards,
 * retention) each seed configures.
 */
import { Conveyor } from "../../../src/client/index.js";
import { v } from "convex/values";
import { vDone, vWork } from "./payload.js";
import { conveyorComponent, internal } from "./server.js";

export const conveyor = new Conveyor(conveyorComponent);

const job = { payload: vWork, result: vDone, context: v.any() };

/** Programs outside do these. */
export const pulled = conveyor.queue("pulled", job);
/** Convex does: an action by reference. */
export const acted = conveyor.queue("acted", job);
acted.handledBy({ action: internal.handlers.act, job: true });
/** An action in the lane's own process. */
export const inlined = conveyor.queue("inlined", job);
inlined.handledBy({ inline: internal.handlers.inline });
/** A mutation, in the transaction that records its end. */
export const written = conveyor.queue("written", job);
written.handledBy({ mutation: internal.handlers.write, job: true });
/** A query. */
export const looked = conveyor.queue("looked", job);
looked.handledBy({ query: internal.handlers.look, job: true });
/** Programs outside first, and Convex where they do not come. */
export const mixed = conveyor.queue("mixed", { ...job, fallbackAfterMs: 2_000 });
mixed.handledBy({ action: internal.handlers.act, job: true });
/** Its items come round: programs outside work on them. */
export const ring = conveyor.queue("ring", { ...job, circular: true, restMs: 500 });
/** Its items come round: Convex works on them. */
export const wheel = conveyor.queue("wheel", { ...job, circular: true, restMs: 1_000 });
wheel.handledBy({ action: internal.handlers.act, job: true });

export const queues = { pulled, acted, inlined, written, looked, mixed, ring, wheel };
for (const queue of Object.values(queues)) queue.onComplete(internal.callbacks.done);

/** One of many of the same kind: its name alone tells it from the others. Nothing is kept of it from call to call. */
export function manyQueue(name: string) {
  const queue = new Conveyor(conveyorComponent).queue(name, job);
  queue.handledBy({ action: internal.handlers.act, job: true });
  queue.onComplete(internal.callbacks.done);
  return queue;
}

export type QueueName = keyof typeof queues;
