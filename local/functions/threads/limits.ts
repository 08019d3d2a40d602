/** The bounds of functions in threads, and of the threads themselves. */
import { availableParallelism } from "node:os";

const MIB = 1 << 20;

/** Threads by their functions: threads for Node have a larger heap, and transactions never wait behind actions. */
export type ThreadKind = "transaction" | "action" | "node";

/** JavaScript of one query or mutation, system calls not counted. docs: limits; knobs.rs: DATABASE_UDF_USER_TIMEOUT. */
export const USER_TIME_MS = 1000;
/** A thread that neither waits for a system call nor uses a processor (`Atomics.wait`) has so much more. An assumption. */
export const STANDSTILL_MS = 15_000;
/** Loading the modules of one call, or all of one push. An assumption: a slow machine's first call must get through. */
export const LOADING_TIME_MS = 10_000;

/** docs: limits; termination.rs: "maximum memory usage: 64 MB". */
export const ISOLATE_HEAP_BYTES = 64 * MIB;
/** Actions of modules that say "use node". docs: limits. */
export const NODE_HEAP_BYTES = 512 * MIB;
export function heapLimit(kind: ThreadKind): number {
  return kind === "node" ? NODE_HEAP_BYTES : ISOLATE_HEAP_BYTES;
}

/**
 * Memory that a thread takes for itself: Node, sandboxes at rest, modules. Measured: 6 to 9 MiB after bursts of a small
 * app's mutations, 4 to 6 MiB once collected. An assumption: an app with large modules, in several sandboxes, takes up
 * to so much.
 */
export const OWN_HEAP_BYTES = 24 * MIB;
/**
 * V8's own bound. It must never be reached: for a single large array that V8 cannot allocate it takes the whole process
 * down, threads or not (seen with 80, 500 and 1,200 MiB; an array is at most 1 GiB). So memory is watched from outside.
 */
export const V8_HEAP_MIB = 4096;

/** How often running calls are checked. */
export const WATCH_EVERY_MS = 50;
/** How long a call that was given up has to end before its thread is ended. */
export const ABORT_GRACE_MS = 250;

/**
 * Threads, by their functions: together about the functions that the smallest class runs at once (16 queries, 16
 * mutations, 64 actions; of Node actions fewer). Further transactions wait for one; actions share.
 */
export const MAX_THREADS: Record<ThreadKind, number> = { transaction: 32, action: 64, node: 16 };
/** More at once would only be slower. */
export const MAX_STARTING = Math.max(2, Math.ceil(availableParallelism() / 2));
/** How long an unused thread is kept. An assumption: longer than a pause in a developer's work. */
export const IDLE_THREAD_MS = 30_000;
