/** For how long a lane takes jobs in its process. Pure. */
import {
  COMPONENT_VERSION,
  INLINE_TIMEOUT_MAX_MS,
  PUSH_TIMEOUT_DEFAULT_MS,
  PUSH_TIMEOUT_MAX_MS,
  type ProcessReport,
} from "../../shared/index.js";
import type { Queue } from "../rows/queues.js";

/** Handlers that are mutations run in the steps of their lane: they take no place of its process. */
export function isMutation({ config }: Queue): boolean {
  return config.handler?.kind === "mutation";
}

/** How long an attempt of a job may run inside Convex; `own` is the job's own bound. */
export function timeoutOf({ config }: Queue, own?: number): number {
  const isInline = config.handler?.kind === "inline";
  const max = isInline ? INLINE_TIMEOUT_MAX_MS : PUSH_TIMEOUT_MAX_MS;
  return Math.min(own ?? config.timeoutMs ?? PUSH_TIMEOUT_DEFAULT_MS, max);
}

/** Whether the process can run jobs of the queue that begin then, and they end before it does. */
export function takesMore(report: ProcessReport | undefined, queue: Queue, now: number): boolean {
  if (report === undefined) return false;
  const { endsAt, openUntil = Infinity } = report;
  // An inline handler runs in the app's own action, and its processes are open for a while only.
  if (queue.config.handler?.kind === "inline" && openUntil === Infinity) return false;
  return now + timeoutOf(queue) <= endsAt && now <= openUntil;
}

/** Whether a lane takes no more: its process is too old, or was started by another version of the component. */
export function isTimeOver(report: ProcessReport | undefined, queue: Queue, now: number): boolean {
  return !takesMore(report, queue, now) || report?.version !== COMPONENT_VERSION;
}
