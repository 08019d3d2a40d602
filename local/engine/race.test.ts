/** Fifty workers claim fifty jobs at once: each worker's job, and the number of conflicts. */
import { describe, expect, test } from "vitest";
import type { Environment } from "../environment.js";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { DatabaseOptions, Doc, Transaction } from "./types.js";

const JOBS = 50;
const WORKERS = 50;
const SEEDS = [1, 2, 3];

const pending = range("jobs", "by_status", [{ type: "Eq", fieldPath: "status", value: "pending" }]);

type Choose = (transaction: Transaction, env: Environment) => Promise<Doc | null>;

/** Scans without depending: candidates from the snapshot, one of them at random, and only that one read for real. */
const lookWithoutDepending: Choose = async (transaction, env) => {
  const candidates = await collect(transaction.staleSnapshot(), pending);
  const candidate = candidates[Math.floor(env.random() * candidates.length)];
  if (candidate === undefined) return null;
  const job = await transaction.get("", candidate._id);
  return job?.["status"] === "pending" ? job : null;
};

/** The obvious way: every claim depends on the same first row. */
const plainFirst: Choose = async (transaction) => (await take(transaction, pending, 1))[0] ?? null;

async function race(choose: Choose, seed: number, options: DatabaseOptions = {}) {
  const env = seededEnvironment(seed);
  const database = createDatabase(env, options);
  const tables = [{ name: "jobs", indexes: [{ name: "by_status", fields: ["status"] }] }];
  await database.applySchema("", tables, { enforce: false });
  await transact(database, "setup", async (transaction) => {
    for (let n = 0; n < JOBS; n++) await transaction.insert("", "jobs", { status: "pending", n });
  });
  const claims = await Promise.all(
    Array.from({ length: WORKERS }, async (_, worker) => {
      const { value, conflicts } = await transact(database, "claim", async (transaction) => {
        const job = await choose(transaction, env);
        if (job !== null) await transaction.patch("", job._id, { status: "running", worker });
        return job?._id ?? null;
      });
      return { job: value, conflicts };
    }),
  );
  const rows = await collect(database.begin(), range("jobs", "by_creation_time"));
  return {
    claimed: claims.map(({ job }) => job).filter((job) => job !== null),
    conflicts: claims.reduce((sum, claim) => sum + claim.conflicts, 0),
    left: rows.filter((row) => row["status"] === "pending").length,
  };
}

/** The jobs that more than one worker believes to have. */
function handedOutTwice(claimed: string[]): string[] {
  return claimed.filter((job, i) => claimed.indexOf(job) !== i);
}

describe.each(SEEDS)("50 claims of 50 jobs at once, seed %i", (seed) => {
  test("that scan without depending get each job once, at few conflicts", async () => {
    const { claimed, conflicts, left } = await race(lookWithoutDepending, seed);
    const { conflicts: conflictsOfFirst } = await race(plainFirst, seed);
    console.log(
      `seed ${seed}: ${conflicts} conflicts by snapshot, random pick and point read, ` +
        `${conflictsOfFirst} by first()`,
    );
    expect(handedOutTwice(claimed)).toEqual([]);
    expect(claimed.length + left).toBe(JOBS);
    expect(left).toBe(0);
    expect(conflicts).toBeLessThan(conflictsOfFirst / 4);
  });

  test("that take the first pending job get each once too, but conflict", async () => {
    const { claimed, conflicts, left } = await race(plainFirst, seed);
    expect(handedOutTwice(claimed)).toEqual([]);
    expect({ claimed: claimed.length, left }).toEqual({ claimed: JOBS, left: 0 });
    expect(conflicts).toBeGreaterThan(0);
  });

  test("hand a job out twice on an engine that does not validate: the check above would see it", async () => {
    const { claimed, conflicts } = await race(lookWithoutDepending, seed, { skipValidation: true });
    expect(handedOutTwice(claimed).length).toBeGreaterThan(0);
    expect(conflicts).toBe(0);
  });
});
