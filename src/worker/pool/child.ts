/**
 * The program of a process of a pool: `child.js FILE ARGS…`. It waits for its name, loads the module, runs the workers that the
 * module makes, acknowledges each message, and exits when the workers have come to their end.
 *
 * SIGINT is the pool's to answer: a terminal sends it to both. When the pool is gone, the workers stop with their grace.
 */
import { pathToFileURL } from "node:url";
import { errorText, isConveyorError, NAME_MAX_LENGTH } from "../../shared/index.js";
import { setPoolLink, type PooledWorker } from "../pooled.js";
import { KILL_AFTER_MS } from "./limits.js";
import type { NumberedOrder, ProcessLoad, Report } from "./messages.js";

type Start = Extract<NumberedOrder, { type: "start" }>;

const workers: PooledWorker[] = [];
let unnamed = 0;
let start: Start | undefined;
let isQuiet = false;
/** Undefined until the process is to stop. */
let stopsIn: number | undefined;
let wasReady = false;

function say(report: Report): void {
  // Without a pool there is nothing to say it to.
  if (process.connected) process.send!(report, () => {});
}

/** The state that matters most comes first. */
const STATES = ["working", "starting", "waiting", "draining", "stopped"] as const;

function load(): ProcessLoad {
  const statuses = workers.map(({ status }) => status);
  const sum = (of: (status: PooledWorker["status"]) => number) =>
    statuses.reduce((total, status) => total + of(status), 0);
  return {
    state: STATES.find((state) => statuses.some((one) => one.state === state)) ?? "starting",
    slots: { used: sum(({ slots }) => slots.used), had: sum(({ slots }) => slots.had) },
    done: sum(({ done }) => done),
    memoryBytes: process.memoryUsage.rss(),
  };
}

function sayWhenReady(): void {
  const isReady = workers.every(({ status }) => !["starting", "stopped"].includes(status.state));
  if (wasReady || workers.length === 0 || !isReady) return;
  wasReady = true;
  say({ type: "ready", load: load() });
}

function nameOf(given: string | undefined): string {
  if (given !== undefined) return `${given}:${start!.process}`.slice(-NAME_MAX_LENGTH);
  unnamed += 1;
  const which = unnamed === 1 ? "" : `:${unnamed}`;
  return `${start!.name}${which}`.slice(-NAME_MAX_LENGTH);
}

function register(worker: PooledWorker): void {
  workers.push(worker);
  worker.on("state", sayWhenReady);
  if (isQuiet) worker.quiet();
  if (stopsIn !== undefined) void worker.stop({ graceMs: stopsIn });
}

function stop(graceMs: number): void {
  stopsIn = graceMs;
  // No module is loaded: there is nothing to wait for.
  if (start === undefined) process.exit();
  for (const worker of workers) void worker.stop({ graceMs });
}

/** For workers that do not end, where no pool kills the process. */
function exitAfter(graceMs: number): void {
  setTimeout(() => process.exit(1), graceMs + KILL_AFTER_MS).unref();
}

async function run(order: Start): Promise<void> {
  start = order;
  isQuiet = order.isQuiet;
  // As if Node had been started with the module.
  process.argv.splice(1, 1);
  const file = process.argv[1]!;
  setPoolLink({ nameOf, register });
  try {
    // A module that runs its worker itself is loaded when the worker has ended.
    await import(pathToFileURL(file).href);
    if (workers.length === 0 && stopsIn === undefined) {
      throw new Error(
        `${file} makes no worker while it is loaded. ` +
          "Write `new Worker({ … })` in the module, not in a function that runs later.",
      );
    }
    await Promise.all(workers.map((worker) => worker.run()));
  } catch (error) {
    say({ type: "error", message: errorText(error) });
    // The words of a refusal say all, and the pool has them.
    if (!isConveyorError(error)) console.error(error);
    process.exitCode = 1;
    // The module's other workers may have jobs in hand.
    const graceMs = stopsIn ?? order.graceMs;
    exitAfter(graceMs);
    await Promise.allSettled(workers.map((worker) => worker.stop({ graceMs })));
  }
  // A handler that goes on after its signal would keep the process alive. What waits for `run` comes before.
  setImmediate(() => process.exit());
}

function obey(order: NumberedOrder): void {
  switch (order.type) {
    case "start":
      if (start === undefined) void run(order);
      break;
    case "quiet":
    case "resume":
      isQuiet = order.type === "quiet";
      for (const worker of workers) worker[order.type]();
      break;
    case "stop":
      stop(order.graceMs);
      break;
    case "ping":
      break;
    default:
      // A later release of the pool may say more. It is acknowledged: the process is well.
      console.warn("[conveyor] a message of the pool is unknown here:", order);
  }
  say({ type: "acknowledged", id: order.id, load: load() });
}

const graceOf = () => start?.graceMs ?? 0;

process.on("message", (message) => obey(message as NumberedOrder));
process.on("SIGINT", () => {});
process.on("SIGTERM", () => stop(graceOf()));
process.on("disconnect", () => {
  stop(graceOf());
  exitAfter(graceOf());
});
process.on("uncaughtExceptionMonitor", (error) =>
  say({ type: "error", message: errorText(error) }),
);
