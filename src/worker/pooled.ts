/**
 * The meeting point of a process of a `WorkerPool` and the workers that its module makes. It is a symbol of the runtime and not
 * an export: the pool's program and the app's module may load two copies of this package.
 */
import type { WorkerState, WorkerStatus } from "./events.js";

/** A worker, as far as its pool needs it. */
export interface PooledWorker {
  readonly status: Pick<WorkerStatus, "state" | "slots" | "done">;
  run(): Promise<void>;
  stop(options: { graceMs: number }): Promise<void>;
  quiet(): void;
  resume(): void;
  on(kind: "state", listener: (event: { state: WorkerState }) => void): unknown;
}

/** The process of a pool. */
export interface PoolLink {
  /** The name of a worker: its own name and the process, or the name of the process alone. Names in a pool are distinct. */
  nameOf(given: string | undefined): string;
  register(worker: PooledWorker): void;
}

const LINK = Symbol.for("convex-conveyor/pool");

const place = globalThis as { [LINK]?: PoolLink };

/** Undefined in a process of its own. */
export const poolLink = (): PoolLink | undefined => place[LINK];

export function setPoolLink(link: PoolLink): void {
  place[LINK] = link;
}
