/**
 * Brings the rows of crons in line with a push's declarations: new ones begin, changed ones go on with the new values,
 * the rest end. Idempotent, so a backend that is started again declares the same once more and changes nothing.
 */
import type { Namespace, Transaction } from "../../engine/types.js";
import { transact, type RetryPolicy } from "../retrying.js";
import type { Services } from "../scope.js";
import type { CronSpec, Deployment } from "../types.js";
import { nextRun } from "./schedule.js";
import {
  CRON_JOBS,
  deleteCron,
  insertCron,
  listCrons,
  nextRunOf,
  replaceSpec,
  specOf,
  writeNextRun,
  type CronRow,
} from "./table.js";

/** Runs that end meanwhile write the same rows. A push does not fail for that. */
const CRON_PUSH: RetryPolicy = {
  maxRetries: Infinity,
  initialBackoffMs: 10,
  maxBackoffMs: 2000,
  waitsForWriter: true,
};
/** A cron that runs about as often keeps its next time when its schedule changes. model/src/cron_jobs: update. */
const OFTEN_MS = 30_000;

type Crons = ReadonlyMap<string, CronSpec>;

/** Crons of components that are not mounted any more end too. */
export async function installCrons(
  services: Services,
  before: Deployment,
  after: Deployment,
): Promise<void> {
  const namespaces = new Set([...before.instances.keys(), ...after.instances.keys()]);
  for (const namespace of namespaces) {
    const crons: Crons = after.instances.get(namespace)?.definition.crons ?? new Map();
    if (crons.size === 0 && !services.database.tables(namespace).includes(CRON_JOBS)) continue;
    await transact(services, "cron_push", CRON_PUSH, async (tx) => {
      await apply(services, tx, namespace, crons);
      return { commit: true, value: null };
    });
  }
}

async function apply(
  services: Services,
  tx: Transaction,
  namespace: Namespace,
  declared: Crons,
): Promise<void> {
  const known = new Map((await listCrons(tx, namespace)).map((row) => [row.name, row]));
  for (const [name, spec] of declared) {
    const row = known.get(name);
    if (row === undefined) {
      await insertCron(tx, namespace, name, spec, firstRun(services, spec));
    } else if (row.spec !== JSON.stringify(spec)) {
      await update(services, tx, namespace, row, spec);
    }
  }
  for (const [name, row] of known) {
    if (!declared.has(name)) await deleteCron(tx, namespace, row);
  }
}

async function update(
  services: Services,
  tx: Transaction,
  namespace: Namespace,
  row: CronRow,
  spec: CronSpec,
): Promise<void> {
  const old = specOf(row);
  const other = JSON.stringify(old.schedule) !== JSON.stringify(spec.schedule);
  if (other && !runsOften(services, old)) {
    const next = await nextRunOf(tx, namespace, row);
    if (next !== null) {
      await writeNextRun(tx, namespace, next, { due: firstRun(services, spec) });
    }
  }
  await replaceSpec(tx, namespace, row, spec);
}

function firstRun({ env, options }: Services, { schedule }: CronSpec): number {
  const random = () => env.random();
  return nextRun(schedule, {
    previous: null,
    now: env.now(),
    splayMs: options.cronSplayMs,
    random,
  });
}

/** By the run after the next one: within so little time a push and a run would get into each other's way. */
function runsOften({ env, options }: Services, { schedule }: CronSpec): boolean {
  const now = env.now();
  const timing = { splayMs: options.cronSplayMs, random: () => env.random() };
  const first = nextRun(schedule, { previous: null, now, ...timing });
  const second = nextRun(schedule, { previous: first, now: first, ...timing });
  return second - now <= OFTEN_MS;
}
