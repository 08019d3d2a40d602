/** A pool with real processes, of `pool/worker.ts`, in time that passes by hand. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildSync } from "esbuild";
import { forkProcess, nodeArguments } from "../../src/worker/pool/fork.js";
import type { PoolEvent } from "../../src/worker/pool/options.js";
import { Supervisor, type SupervisorDeps } from "../../src/worker/pool/supervisor.js";
import { HandClock } from "./handClock.js";
import { root } from "./paths.js";
import type { Mode } from "./pool/worker.js";

/** Of one file: a process begins in a third of the time that `tsx` takes. */
const folder = mkdtempSync(path.join(tmpdir(), "conveyor-pool-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const FILE = path.join(folder, "worker.mjs");
buildSync({
  entryPoints: [path.join(root, "tests/support/pool/worker.ts")],
  outfile: FILE,
  ...{ bundle: true, platform: "node", format: "esm", logLevel: "warning" },
});
export const CHECK_MS = 5_000;
const SILENT_MS = 15_000;

type Kind = PoolEvent["kind"];
type Of<K extends Kind> = Extract<PoolEvent, { kind: K }>;

/** What a test has differently. */
interface Options extends Partial<Omit<SupervisorDeps, "fork">> {
  fork?: (fork: (env?: Record<string, string>) => ChildProcess) => ChildProcess;
  heard?: (event: PoolEvent) => void;
  /** Otherwise the test does it. */
  runs?: boolean;
}

/** A pool whose processes behave by their numbers. */
export function newPool(modes: Record<string, Mode>, options: Options = {}) {
  const { fork: forkBy = (fork) => fork(), heard, runs = true, ...deps } = options;
  const clock = new HandClock();
  const events: PoolEvent[] = [];
  const children: ChildProcess[] = [];
  const waiting = new Set<() => void>();
  const fork = (env: Record<string, string> = {}) => {
    const child = forkProcess({
      program: path.join(root, "dist/worker/pool/child.js"),
      ...{ file: FILE, args: [], env: { POOL_MODES: JSON.stringify(modes), ...env } },
      execArgv: nodeArguments(FILE, ["--no-warnings"]),
    });
    children.push(child);
    return child;
  };
  const supervisor = new Supervisor({
    clock,
    fork: () => forkBy(fork),
    ...{ name: "pool", processes: 1, graceMs: 8_000, checkMs: CHECK_MS, silentMs: SILENT_MS },
    ...{ maxMemoryBytes: undefined, startTries: 0 },
    emit: (event) => {
      events.push(event);
      heard?.(event);
      for (const look of [...waiting]) look();
    },
    ...deps,
  });
  /** Resolves with the first event of a kind, past or to come, of a process. */
  const event = <K extends Kind>(kind: K, id?: number): Promise<Of<K>> =>
    new Promise((resolve) => {
      const look = () => {
        const found = events.find((one) => one.kind === kind && (!id || idOf(one) === id));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found as Of<K>);
      };
      waiting.add(look);
      look();
    });
  const status = (id: number) => supervisor.statuses.find((one) => one.id === id);
  const running = runs ? supervisor.run() : Promise.resolve();
  running.catch(() => {});
  pools.push(supervisor);
  return { clock, events, children, supervisor, running, event, status, checked };

  /** A check, and the acknowledgements of the processes that are well. */
  async function checked(...well: number[]): Promise<void> {
    const before = new Map(well.map((id) => [id, acknowledged(id)]));
    clock.pass(CHECK_MS);
    for (const id of well) {
      while (acknowledged(id) === before.get(id)) await new Promise(setImmediate);
    }
  }

  /** A load comes with each acknowledgement, as an object of its own. */
  function acknowledged(id: number): unknown {
    return status(id)?.slots;
  }
}

export const idOf = (event: PoolEvent) => ("id" in event ? event.id : undefined);

const pools: Supervisor[] = [];

/** After each test. */
export async function endPools(): Promise<void> {
  const stopped = pools.splice(0).map((pool) => {
    const stopping = pool.stop(0);
    pool.killAll();
    return stopping;
  });
  await Promise.all(stopped);
}
