/**
 * Counts the work of a backend: the platform's bill for it, and the losses by conflicts and waiting. It listens and
 * does nothing else: no function, transaction or scheduler knows of it.
 */
import type { Environment } from "../environment.js";
import { NOTHING } from "../engine/usage.js";
import { sumOfIo, type Spent } from "../functions/account.js";
import type { Housekeeping, Wait, WaitKind } from "../functions/events.js";
import { displayName } from "../functions/lookup.js";
import type { Completion, FunctionRunner } from "../functions/types.js";
import type {
  ConflictStats,
  FunctionStats,
  HousekeepingStats,
  StatsSnapshot,
  WaitStats,
} from "./types.js";

/** Pairs kept apart: an app has some hundred functions, of which few ever conflict. Further pairs are not listed. */
const MAX_CONFLICT_PAIRS = 10_000;

const WAITS: readonly WaitKind[] = ["executor", "queryPermit", "mutationPermit", "actionPermit"];

type Heard = Pick<FunctionRunner, "onCompletion" | "onWait" | "onHousekeeping">;

export class Stats {
  #since: number;
  #functions = new Map<string, FunctionStats>();
  #conflicts = new Map<string, ConflictStats>();
  #waits = noWaits();
  #housekeeping = new Map<string, HousekeepingStats>();
  readonly #stop: (() => void)[];

  constructor(
    private readonly env: Environment,
    runner: Heard,
  ) {
    this.#since = env.now();
    this.#stop = [
      runner.onCompletion((completion) => this.#completed(completion)),
      runner.onWait((wait) => this.#waited(wait)),
      runner.onHousekeeping((housekeeping) => this.#housekept(housekeeping)),
    ];
  }

  /** A copy: it does not change any more. */
  snapshot(): StatsSnapshot {
    const functions = Object.fromEntries([...this.#functions].sort(([a], [b]) => (a < b ? -1 : 1)));
    return structuredClone({
      since: this.#since,
      until: this.env.now(),
      total: Object.values(functions).reduce(sumOfFunctions, noCalls()),
      functions,
      conflicts: [...this.#conflicts.values()].sort((a, b) => b.count - a.count),
      waits: this.#waits,
      housekeeping: Object.fromEntries(this.#housekeeping),
    });
  }

  /** Everything counts from now. */
  reset(): void {
    this.#since = this.env.now();
    this.#functions = new Map();
    this.#conflicts = new Map();
    this.#waits = noWaits();
    this.#housekeeping = new Map();
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #completed({ address, billed, cached, refused, error, durationMs, spent }: Completion): void {
    const name = displayName(address);
    const known = this.#functions.get(name) ?? noCalls();
    this.#functions.set(
      name,
      sumOfFunctions(known, {
        calls: 1,
        billed,
        cached: cached ? 1 : 0,
        refused: refused ? 1 : 0,
        errors: error === undefined ? 0 : 1,
        retries: spent.retries,
        conflicts: spent.lostTo.length,
        durationMs,
        io: sumOfIo(spent.cost.user, spent.lost.user),
        systemIo: sumOfIo(spent.cost.system, spent.lost.system),
        lostIo: spent.lost.user,
        tombstones: spent.cost.tombstones + spent.lost.tombstones,
      }),
    );
    this.#lost(name, spent);
  }

  #housekept({ source, spent }: Housekeeping): void {
    const known = this.#housekeeping.get(source);
    const { cost, lost } = spent;
    this.#housekeeping.set(source, {
      transactions: (known?.transactions ?? 0) + 1,
      retries: (known?.retries ?? 0) + spent.retries,
      conflicts: (known?.conflicts ?? 0) + spent.lostTo.length,
      systemIo: [cost.system, lost.system].reduce(sumOfIo, known?.systemIo ?? NOTHING),
      tombstones: (known?.tombstones ?? 0) + cost.tombstones + lost.tombstones,
    });
    this.#lost(source, spent);
  }

  #lost(loser: string, { lostTo }: Spent): void {
    for (const { author: winner, table, id } of lostTo) {
      const key = JSON.stringify([loser, winner, table]);
      const known = this.#conflicts.get(key);
      if (known === undefined && this.#conflicts.size >= MAX_CONFLICT_PAIRS) continue;
      this.#conflicts.set(key, {
        loser,
        winner,
        table,
        count: (known?.count ?? 0) + 1,
        lastId: id,
      });
    }
  }

  #waited({ kind, ms }: Wait): void {
    const wait = this.#waits[kind];
    wait.count++;
    wait.totalMs += ms;
    wait.maxMs = Math.max(wait.maxMs, ms);
  }
}

function noCalls(): FunctionStats {
  return {
    calls: 0,
    billed: 0,
    cached: 0,
    refused: 0,
    errors: 0,
    retries: 0,
    conflicts: 0,
    durationMs: 0,
    io: NOTHING,
    systemIo: NOTHING,
    lostIo: NOTHING,
    tombstones: 0,
  };
}

function sumOfFunctions(a: FunctionStats, b: FunctionStats): FunctionStats {
  return {
    calls: a.calls + b.calls,
    billed: a.billed + b.billed,
    cached: a.cached + b.cached,
    refused: a.refused + b.refused,
    errors: a.errors + b.errors,
    retries: a.retries + b.retries,
    conflicts: a.conflicts + b.conflicts,
    durationMs: a.durationMs + b.durationMs,
    io: sumOfIo(a.io, b.io),
    systemIo: sumOfIo(a.systemIo, b.systemIo),
    lostIo: sumOfIo(a.lostIo, b.lostIo),
    tombstones: a.tombstones + b.tombstones,
  };
}

function noWaits(): Record<WaitKind, WaitStats> {
  const none = WAITS.map((kind) => [kind, { count: 0, totalMs: 0, maxMs: 0 }]);
  return Object.fromEntries(none) as Record<WaitKind, WaitStats>;
}
