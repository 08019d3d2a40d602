/**
 * Queues of each kind. Code declares the options that cannot change at run time; each seed configures the rest (leases, retries,
 * parallelism, shards, retention).
 */
import { Conveyor } from "../../../src/client/index.js";
import { v } from "convex/values";
import { DEPLOYED, GATHERED, NUMBERS, SCOPED, type Kind } from "./names.js";
import { vDone, vWork } from "./payload.js";
import { conveyorComponent, internal } from "./server.js";

export const conveyor = new Conveyor(conveyorComponent);

const job = {
  ...{ payload: vWork, result: vDone, context: v.any() },
  onComplete: () => internal.callbacks.done as unknown,
};
const act = { action: internal.handlers.act, job: true };

/** By kind: further options of its declaration, and its handler. Absent: programs outside. */
const KINDS: Record<Kind, { with?: object; by?: object }> = {
  pulled: {},
  /** An action by reference. */
  acted: { by: act },
  /** An action in the lane's own process. */
  inlined: { with: { inline: () => internal.handlers.inline } },
  /** A mutation, in the transaction that records its end. */
  written: { by: { mutation: internal.handlers.write, job: true } },
  /** A query. */
  looked: { by: { query: internal.handlers.look, job: true } },
  /** Programs outside first, and Convex where they do not come. */
  mixed: { with: { fallbackAfterMs: 2_000 }, by: act },
  /** Its items come round: programs outside work on them. */
  ring: { with: { circular: true, restMs: 500 } },
  /** Its items come round; a push queue. */
  wheel: { with: { circular: true, restMs: 1_000 }, by: act },
};

function declare(kind: Kind, name: string, on: Conveyor = conveyor) {
  const { with: options, by } = KINDS[kind];
  const queue = on.queue(name, { ...job, ...options });
  if (by !== undefined) queue.handledBy(by as typeof act);
  return queue;
}

type Queue = ReturnType<typeof declare>;

/** By kind: the plain queue first, then the numbered ones. */
export const ofKind = Object.fromEntries(
  (Object.keys(KINDS) as Kind[]).map((kind) => {
    const names = Array.from({ length: NUMBERS }, (_, i) => `${kind}${i + 1}` as const);
    return [kind, [kind, ...names].map((name) => declare(kind, name))];
  }),
) as Record<Kind, Queue[]>;

/** The handler of `deployed`: a deploy replaces this text. */
const DEPLOYED_BY: string = "deployed by act";
const DEPLOYED_WITH: Record<string, string> = { act: "act", too: "actToo" };

/** Deploys leave the function away that it does not name: see `workloads/deploys.ts`. */
export const deployed = declareDeployed();

function declareDeployed(): Queue {
  const queue = conveyor.queue(DEPLOYED, job);
  const handler = DEPLOYED_WITH[DEPLOYED_BY.slice("deployed by ".length)];
  if (handler !== undefined) queue.handledBy({ action: internal.handlers[handler], job: true });
  return queue;
}

/** Programs outside serve it, in the groups for which they are. */
const scoped = conveyor.queue(SCOPED, job);
/** One handler inside Convex is given several of its jobs. */
export const gathered = conveyor.queue(GATHERED, {
  ...job,
  ...{ inline: () => internal.handlers.inlineBatches, batch: { size: 4, waitMs: 200 } },
});

const byName = new Map(
  [...Object.values(ofKind).flat(), deployed, scoped, gathered as unknown as Queue].map((queue) => [
    queue.name,
    queue,
  ]),
);

export function queueNamed(name: string): Queue {
  return byName.get(name) ?? manyQueue(name);
}

/** One of many of the same kind: its name alone distinguishes it. Nothing is kept of it from call to call. */
function manyQueue(name: string): Queue {
  return declare("acted", name, new Conveyor(conveyorComponent));
}
