/**
 * A great many jobs (a million with `SCHEDULED_JOBS=1000000`) spread over a month, in virtual time: the number of scheduled
 * functions at any time, the cost of their rings, and whether every job of a day becomes claimable in time while all later ones
 * lie there.
 */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { startVirtualApp } from "../support/virtualApp.js";
import { callDeclaring } from "./declaredWorld.js";
import type { StoredCommit } from "../../local/engine/store.js";
import type { Doc } from "../../local/engine/types.js";
import { SCHEDULED_TABLE } from "../../local/functions/scheduledTable.js";
import { MemoryStore } from "../../local/store/memoryStore.js";

const JOBS = Number(process.env["SCHEDULED_JOBS"] ?? counts(4_000, 50_000));
const IN_A_CALL = 500;
const DAY_MS = 24 * 3_600_000;
const MONTH_MS = 30 * DAY_MS;
/** As long as jobs are watched becoming claimable. */
const WATCHED_MS = 3 * 60_000;
/** In the first minute that is watched there is one in each segment of 100 ms: as many alarms as there can be. */
const CROWD = 600;

/** Counts in the stored commits how many alarms and scheduled functions stand, and how late each job is promoted. */
class Watching extends MemoryStore {
  now = () => 0;
  standing = { timers: 0, functions: 0 };
  most = { timers: 0, functions: 0 };
  late: number[] = [];
  readonly #due = new Map<string, number>();
  readonly #is = { timers: new Set<string>(), functions: new Set<string>() };

  override append(commits: readonly StoredCommit[]): Promise<void> {
    for (const { writes } of commits) {
      for (const { table, id, doc } of writes) this.#note(table, id, doc);
    }
    return super.append(commits);
  }

  #note(table: string, id: string, doc: Doc | null): void {
    if (table === "timers") this.#count("timers", id, doc !== null);
    if (table === SCHEDULED_TABLE) {
      this.#count(
        "functions",
        id,
        (doc?.["state"] as { kind?: string } | undefined)?.kind === "pending",
      );
    }
    if (table !== "jobs" || doc === null) return;
    if (doc["status"] === "scheduled") this.#due.set(id, doc["order"] as number);
    const due = this.#due.get(id);
    if (doc["status"] !== "pending" || due === undefined) return;
    this.#due.delete(id);
    this.late.push(this.now() - due);
  }

  #count(what: "timers" | "functions", id: string, stands: boolean): void {
    if (stands) this.#is[what].add(id);
    else this.#is[what].delete(id);
    this.standing[what] = this.#is[what].size;
    this.most[what] = Math.max(this.most[what], this.standing[what]);
  }
}

test(`${JOBS} jobs over a month: fewer than a thousand scheduled functions, and each is claimable in time`, async () => {
  const store = new Watching();
  const { world } = await startVirtualApp({ seed: 1, store });
  store.now = () => world.now();
  try {
    const from = world.now();
    const queue = { name: "month", config: { leaseMs: 10_000, maxResets: 3, shards: 8 } };
    const spread = (n: number) => (n < CROWD ? 100 * n : MONTH_MS * (n / JOBS));
    for (let n = 0; n < JOBS; n += IN_A_CALL) {
      const jobs = Array.from({ length: Math.min(IN_A_CALL, JOBS - n) }, (_, i) => ({
        payload: n + i,
        options: { runAt: from + DAY_MS + spread(n + i) },
      }));
      await callDeclaring(world, "lib:enqueue", { queue, jobs });
    }
    expect(store.standing.timers).toBeLessThan(100);
    world.stats.reset();
    await world.advance(from + DAY_MS + WATCHED_MS - world.now());
    expect(store.late.length).toBeGreaterThanOrEqual(CROWD);
    expect(Math.min(...store.late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...store.late)).toBeLessThan(250);
    expect(store.most.functions).toBeLessThan(1_000);
    console.log(
      `${JOBS} jobs: at most ${store.most.timers} alarms and ${store.most.functions} scheduled functions; ` +
        `${store.late.length} jobs promoted, at most ${Math.round(Math.max(...store.late))} ms late.`,
    );
  } finally {
    await world.close();
  }
}, 1_800_000);
