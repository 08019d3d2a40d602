/** A hook for a page that is a worker. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { WorkerEvent, WorkerState, WorkerStatus } from "../worker/events.js";

/** The part of `Worker`, of `convex-conveyor/worker`, that the hook uses. */
export interface PageWorker {
  readonly status: WorkerStatus;
  run(): Promise<void>;
  stop(options?: { graceMs?: number }): Promise<void>;
  on(kind: WorkerEvent["kind"], listener: () => void): () => void;
}

/** A page's worker: see {@link useWorker}. */
export interface UsedWorker {
  /** `stopped` before the first start, too. */
  state: WorkerState;
  /** The job in hand that came first; all are in `status.running`. */
  job: WorkerStatus["running"][number] | undefined;
  /** Its slots, jobs in hand and jobs done; undefined before the first start. */
  status: WorkerStatus | undefined;
  /** The error that ended its last run, as of a revoked token, or of its making; undefined without one. */
  error: unknown;
  /** Makes a worker and runs it. While one runs, it does nothing; while one stops, the next begins after its end. */
  start: () => void;
  /** Stops it gracefully; resolves when its run has ended. */
  stop: (options?: { graceMs?: number }) => Promise<void>;
}

/** After these events the status is read again. */
const KINDS = [
  "state",
  "status",
  "claimed",
  "finished",
  "recorded",
  "leaseLost",
  "resultDropped",
  "handlerAbandoned",
] as const;

/** A worker in these states claims nothing more. */
const ENDING: ReadonlySet<WorkerState> = new Set(["draining", "stopped"]);

/**
 * Makes the page a worker, as long as the component is mounted: it starts when it is told to, and stops when it is told
 * to or unmounts. A tab that is closed loses nothing: other workers get its jobs when their leases are over.
 *
 * @param newWorker Makes a worker, once per start. It may be another function in each render.
 * @returns The state, the job in hand, and the functions that start and stop it; these are the same in each render.
 * @example
 * const { state, job, start, stop } = useWorker(
 *   () => new Worker({ url, token, api: api.worker, handlers: { answers } }),
 * );
 * return <button onClick={state === "stopped" ? start : () => stop()}>{job?.queue ?? state}</button>;
 */
export function useWorker(newWorker: () => PageWorker): UsedWorker {
  const [status, setStatus] = useState<WorkerStatus>();
  const [error, setError] = useState<unknown>();
  const make = useRef(newWorker);
  const running = useRef<PageWorker>(undefined);
  /** A start that waits for the end of the last worker, or for the component to be mounted. */
  const isWanted = useRef(false);
  const isMounted = useRef(false);
  useEffect(() => {
    make.current = newWorker;
  });

  const begin = useCallback(function beginWanted() {
    if (!isWanted.current || !isMounted.current || running.current !== undefined) return;
    isWanted.current = false;
    setError(undefined);
    try {
      running.current = make.current();
    } catch (reason) {
      return setError(reason);
    }
    const ended = follow(running.current, setStatus);
    void ended.catch(setError).then(() => {
      running.current = undefined;
      beginWanted();
    });
  }, []);

  const start = useCallback(() => {
    const worker = running.current;
    if (worker !== undefined && !ENDING.has(worker.status.state)) return;
    isWanted.current = true;
    begin();
  }, [begin]);

  const stop = useCallback(async (options?: { graceMs?: number }) => {
    isWanted.current = false;
    await running.current?.stop(options);
  }, []);

  useEffect(() => {
    isMounted.current = true;
    begin();
    return () => {
      isMounted.current = false;
      void stop();
    };
  }, [begin, stop]);

  const state = status?.state ?? "stopped";
  return { state, job: status?.running[0], status, error, start, stop };
}

/** Runs a worker and reads its status with each event. Settles with its run, once the last status is read. */
async function follow(
  worker: PageWorker,
  setStatus: (status: WorkerStatus) => void,
): Promise<void> {
  // An event may come before the change that it is about: the status is read after both.
  const read = () => queueMicrotask(() => setStatus(worker.status));
  const offs = KINDS.map((kind) => worker.on(kind, read));
  read();
  try {
    await worker.run();
  } finally {
    for (const off of offs) off();
    setStatus(worker.status);
  }
}
