/**
 * One run of a cron, from when it is due to when its row says when the next one is.
 *
 * Mutations run exactly once for each time: the row changes in the commit of the mutation itself. Actions run at most
 * once: the row says "inProgress" before the action begins, and a process that finds it so without having begun it
 * records a run that was lost. One cron never runs twice at a time, since its next time is set only when a run has
 * ended; times that have passed by then are skipped.
 */
import type { Namespace, Transaction } from "../../engine/types.js";
import { requireTarget } from "../lookup.js";
import { runMutation, type ScheduledRun } from "../mutations.js";
import { ONCE, transact, untilDone, type RetryPolicy } from "../retrying.js";
import { ACTION_LOST, type RunAction } from "../scheduledRuns.js";
import type { Request, Services } from "../scope.js";
import type { CronSpec } from "../types.js";
import { nextRun } from "./schedule.js";
import {
  logRun,
  readCron,
  readNextRun,
  specOf,
  writeNextRun,
  type CronOutcome,
  type CronRow,
  type NextRunRow,
} from "./table.js";

/**
 * After any failure that is not the function's doing, lost conflicts included. application/src/cron_jobs: *_BACKOFF.
 */
const CRON_BACKOFF: RetryPolicy = {
  maxRetries: Infinity,
  initialBackoffMs: 500,
  maxBackoffMs: 15_000,
  waitsForWriter: false,
};
/** The writers' names in other functions' conflict messages, as on the platform. */
const SOURCES = {
  mutation: "cron_commit_mutation",
  mutationFailed: "cron_save_mutation_error",
  actionBegins: "cron_in_progress",
  actionEnded: "cron_complete_action",
  actionLost: "cron_finish_action",
} as const;

interface Run {
  services: Services;
  namespace: Namespace;
  next: NextRunRow;
  startedAt: number;
}

/** Resolves when the run is over, or there was nothing to run any more. Until then the cron's place is taken. */
export async function runCron(
  services: Services,
  runAction: RunAction,
  namespace: Namespace,
  next: NextRunRow,
): Promise<void> {
  const run: Run = { services, namespace, next, startedAt: services.env.now() };
  await untilDone(services.env, CRON_BACKOFF, () => attempt(run, runAction));
}

async function attempt(run: Run, runAction: RunAction): Promise<void> {
  const { services, namespace, next } = run;
  const tx = services.database.begin();
  const cron = await unchanged(tx, run);
  if (cron === null) return;
  const { path } = specOf(cron);
  const target = requireTarget(
    services.deployment(),
    { namespace, path },
    { type: null, publicOnly: false },
  );
  if (target.analyzed.udfType === "Mutation") return runCronMutation(run, cron);
  if (next.state === "inProgress") {
    return end(run, cron, { kind: "failed", error: ACTION_LOST }, SOURCES.actionLost);
  }
  return runCronAction(run, cron, runAction);
}

async function runCronMutation(run: Run, cron: CronRow): Promise<void> {
  const { services, namespace } = run;
  const spec = specOf(cron);
  const job: ScheduledRun = {
    policy: ONCE,
    begin: async (tx) => (await unchanged(tx, run, cron.spec)) !== null,
    succeed: (tx) => complete(tx, run, cron, { kind: "success" }),
  };
  const result = await runMutation(services, {
    address: { namespace, path: spec.path },
    args: spec.args,
    request: requestOf(services),
    publicOnly: false,
    source: SOURCES.mutation,
    job,
  });
  if (result === null || result.ok) return;
  await end(run, cron, { kind: "failed", error: result.message }, SOURCES.mutationFailed);
}

async function runCronAction(run: Run, cron: CronRow, runAction: RunAction): Promise<void> {
  const { services, namespace, next } = run;
  const { value: begun } = await transact(services, SOURCES.actionBegins, ONCE, async (tx) => {
    if ((await unchanged(tx, run, cron.spec)) === null) return { commit: false, value: false };
    await writeNextRun(tx, namespace, next, { state: "inProgress" });
    return { commit: true, value: true };
  });
  if (!begun) return;
  const outcome = await outcomeOf(services, runAction, namespace, specOf(cron));
  const running: Run = { ...run, next: { ...next, state: "inProgress" } };
  // It has run: the function must not run a second time, also while this cannot be written.
  await untilDone(services.env, CRON_BACKOFF, () =>
    end(running, cron, outcome, SOURCES.actionEnded),
  );
}

async function outcomeOf(
  services: Services,
  runAction: RunAction,
  namespace: Namespace,
  { path, args }: CronSpec,
): Promise<CronOutcome> {
  try {
    const result = await runAction({ namespace, path }, args, requestOf(services));
    return result.ok ? { kind: "success" } : { kind: "failed", error: result.message };
  } catch {
    return { kind: "failed", error: ACTION_LOST };
  }
}

async function end(run: Run, cron: CronRow, outcome: CronOutcome, source: string): Promise<void> {
  await transact(run.services, source, ONCE, async (tx) => {
    if ((await unchanged(tx, run, cron.spec)) === null) return { commit: false, value: null };
    await complete(tx, run, cron, outcome);
    return { commit: true, value: null };
  });
}

/** The cron, if its rows still are as this run found them: a push may have changed or deleted it. */
async function unchanged(
  tx: Transaction,
  { namespace, next }: Run,
  spec?: string,
): Promise<CronRow | null> {
  const current = await readNextRun(tx, namespace, next._id);
  if (current === null || current.due !== next.due || current.state !== next.state) return null;
  const cron = await readCron(tx, namespace, next.cronJobId);
  return cron !== null && (spec === undefined || cron.spec === spec) ? cron : null;
}

async function complete(
  tx: Transaction,
  { services, namespace, next, startedAt }: Run,
  cron: CronRow,
  outcome: CronOutcome,
): Promise<void> {
  const { env, options } = services;
  const now = env.now();
  const executionTime = (now - startedAt) / 1000;
  await logRun(tx, namespace, cron, { ts: next.due, outcome, executionTime });
  const { schedule } = specOf(cron);
  const timing = { now, splayMs: options.cronSplayMs, random: () => env.random() };
  const first = nextRun(schedule, { previous: next.due, ...timing });
  let due = first;
  let skipped = 0;
  for (; due < now; skipped++) due = nextRun(schedule, { previous: due, ...timing });
  if (skipped > 0) {
    const outcome: CronOutcome = { kind: "skipped", runs: skipped };
    await logRun(tx, namespace, cron, { ts: first, outcome, executionTime: 0 });
  }
  await writeNextRun(tx, namespace, next, { state: "pending", previous: next.due, due });
}

/** Crons run without an identity, and not under a scheduled function: their schedules have no parent. */
function requestOf({ env }: Services): Request {
  const requestId = Buffer.from(env.randomBytes(8)).toString("hex");
  return { requestId, identity: { kind: "none" }, scheduledBy: null };
}
