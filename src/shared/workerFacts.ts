/** A worker's description of itself, which goes along with its calls, and its state as pages show it. Pure. */
import { v, type Infer } from "convex/values";
import { checkInteger, checkLabel } from "./checks.js";
import { LEASES_MAX } from "./limits.js";

/** The state of a worker. */
export const vWorkerState = v.union(
  /** Made, and not yet answered by its deployment. */
  v.literal("starting"),
  /** No job is in hand. */
  v.literal("waiting"),
  /** Handlers run, or their outcomes are being recorded. */
  v.literal("working"),
  /** It claims nothing more, and its jobs come to their end. */
  v.literal("draining"),
  /** Its run is over. */
  v.literal("stopped"),
);
export type WorkerState = Infer<typeof vWorkerState>;

/** What keeps a worker from claiming: its own program, or an operator. */
export const vQuietBy = v.union(v.literal("worker"), v.literal("operator"));
export type QuietBy = Infer<typeof vQuietBy>;

/** The same for a worker's whole life. */
export const vWorkerOrigin = v.object({
  startedAt: v.number(),
  /** Of this library. */
  version: v.string(),
  /** Of the app's program: the worker's option `version`. */
  appVersion: v.optional(v.string()),
  hostname: v.optional(v.string()),
  pid: v.optional(v.number()),
});
export type WorkerOrigin = Infer<typeof vWorkerOrigin>;

/** Sent with the first claim or beat, and again with the next one after a change: no call is made for it. */
export const vWorkerFacts = v.object({
  ...vWorkerOrigin.fields,
  /** Jobs that it runs at once. */
  slots: v.number(),
  /** Absent: it claims. */
  mode: v.optional(v.union(v.literal("quiet"), v.literal("draining"))),
});
export type WorkerFacts = Infer<typeof vWorkerFacts>;

/** They come from a worker: each is bounded, all together to under 300 bytes of ASCII. */
export function checkFacts({ startedAt, slots, pid, ...texts }: WorkerFacts): void {
  checkInteger("about.startedAt", startedAt, 0, Number.MAX_SAFE_INTEGER);
  checkInteger("about.slots", slots, 1, LEASES_MAX);
  if (pid !== undefined) checkInteger("about.pid", pid, 0, Number.MAX_SAFE_INTEGER);
  for (const name of ["version", "appVersion", "hostname"] as const) {
    const text = texts[name];
    if (text !== undefined) checkLabel(`about.${name}`, text);
  }
}
