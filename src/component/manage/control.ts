/**
 * Control: changes to a queue as a whole while it runs: pause, resume, drain, configure.
 *
 * Each is a patch of the queue's row, which every enqueue and claim reads: all calls of the queue that are in flight
 * retry, once, and every later call sees the change. So a pause is exact, and nothing here may be done at the rate of
 * jobs. Idle workers' `hasWork` has read the row; for lanes a wake is scheduled, blindly, wherever there may be new
 * capacity or new claimable jobs: it begins after this commit, and so needs no read. A lower `maxParallelism` needs
 * nothing: every transaction that begins jobs has read it, and a lane takes none while the sum of all caps is above it.
 *
 * - *Paused*: no job is claimed. Jobs come in, fall due and expire; running jobs continue and their outcomes are
 *   recorded.
 * - *Draining*: no job is enqueued (`queueDraining`), and the remaining jobs are processed, retries too. A paused item
 *   is one of the remaining jobs. `resume` ends both.
 * - *Overrides* lie beside the declared configuration, win over it, and survive every deploy until they are reset.
 *
 * Reads for real: the queue's row, of `queues`. Writes: it, also where it is the first to name a queue as it is defined; inserts an event; brings the purge forward; schedules a wake. Conflicts with: every call of the
 * queue, once.
 */
import type { Value } from "convex/values";
import {
  checkQueueConfig,
  checkQueueOverrides,
  conveyorError,
  RANGE_ROWS,
  vQueueOverrides,
  type ConfigSource,
  type QueueConfig,
  type QueueDeclaration,
  type QueueOverrides,
  type QueueState,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx, QueryCtx } from "../_generated/server.js";
import { declare } from "../enter/declare.js";
import { recordEvent } from "../rows/events.js";
import { hastenPurge } from "../count/purge.js";
import {
  canonicalJson,
  findDeclared,
  findQueueRow,
  mayNeedWake,
  queueOf,
  unknownQueue,
} from "../rows/queues.js";
import { wakeBlindly } from "../edges/wakes.js";
import { checkShards } from "../rows/routes.js";

/** `changed` is false where the queue was so already. */
export interface Changed {
  changed: boolean;
}

/** A queue by its name, and with its definition where the caller has that at hand. */
export interface Named {
  queue: string;
  declared?: QueueDeclaration;
}

export async function pauseQueue(ctx: MutationCtx, named: Named): Promise<Changed> {
  const row = await getOrDeclare(ctx, named);
  if (row.pausedAt !== undefined) return { changed: false };
  return await change(ctx, row, { pausedAt: Date.now() }, "queuePaused", "No job is claimed.");
}

export async function drainQueue(ctx: MutationCtx, named: Named): Promise<Changed> {
  const row = await getOrDeclare(ctx, named);
  if (row.drainingAt !== undefined) return { changed: false };
  const fields = { drainingAt: Date.now() };
  return await change(ctx, row, fields, "queueDraining", "No job may be enqueued.");
}

/** Ends a pause and a drain. */
export async function resumeQueue(ctx: MutationCtx, named: Named): Promise<Changed> {
  const row = await getOrDeclare(ctx, named);
  if (row.pausedAt === undefined && row.drainingAt === undefined) return { changed: false };
  const fields = { pausedAt: undefined, drainingAt: undefined };
  return await change(ctx, row, fields, "queueResumed", "Jobs come in and are claimed again.");
}

/** Adds to the overrides. Overrides that are not named stay. */
export async function configureQueue(
  ctx: MutationCtx,
  { overrides, ...named }: Named & { overrides: QueueOverrides },
): Promise<Changed> {
  checkQueueOverrides(named.queue, overrides);
  const row = await getOrDeclare(ctx, named);
  // Together, since a rest needs a ring: fields that only code can declare decide which overrides are allowed. Overrides
  // from before have no meaning where a later deploy declares a queue that allows them no more, and refuse nothing.
  checkQueueConfig(row.name, { ...row.config, ...overrides });
  return await override(ctx, row, { ...row.overrides, ...overrides });
}

/** The declared values apply again: for these fields, or for all. */
export async function resetConfig(
  ctx: MutationCtx,
  { fields, ...named }: Named & { fields?: readonly string[] },
): Promise<Changed> {
  const unknown = fields?.find((field) => !Object.hasOwn(vQueueOverrides.fields, field));
  if (unknown !== undefined) throw unknownField(named.queue, unknown);
  const row = await getOrDeclare(ctx, named);
  const known = Object.keys(row.overrides ?? {});
  const kept = known.filter((field) => fields !== undefined && !fields.includes(field));
  const overrides: QueueOverrides = Object.fromEntries(
    kept.map((field) => [field, row.overrides![field as keyof QueueOverrides]]),
  );
  return await override(ctx, row, overrides);
}

function unknownField(queue: string, field: string): Error {
  const cut = field.slice(0, 100);
  return conveyorError(
    "invalidArgument",
    `No field of a queue's configuration is called ${JSON.stringify(cut)}. Name some of ` +
      `${Object.keys(vQueueOverrides.fields).join(", ")}, or none to reset all.`,
    { argument: "fields", got: cut, queue },
  );
}

async function override(
  ctx: MutationCtx,
  row: Doc<"queues">,
  overrides: QueueOverrides,
): Promise<Changed> {
  if (canonicalJson(row.overrides ?? {}) === canonicalJson(overrides)) return { changed: false };
  const shards = overrides.shards ?? row.config.shards;
  if (shards > row.shardsEver) await checkShards(ctx.db, row.name, shards);
  const changed = await change(
    ctx,
    row,
    {
      overrides: Object.keys(overrides).length === 0 ? undefined : overrides,
      shardsEver: Math.max(row.shardsEver, shards),
    },
    "queueConfigured",
    "Its configuration was changed at run time.",
    { overrides },
  );
  const [before, after] = [row.overrides?.retention, overrides.retention];
  if (canonicalJson(before ?? null) !== canonicalJson(after ?? null)) {
    await hastenPurge(ctx, row.name, Date.now());
  }
  return changed;
}

async function change(
  ctx: MutationCtx,
  row: Doc<"queues">,
  fields: { [Field in keyof Doc<"queues">]?: Doc<"queues">[Field] | undefined },
  kind: "queuePaused" | "queueDraining" | "queueResumed" | "queueConfigured",
  message: string,
  details?: Value,
): Promise<Changed> {
  await ctx.db.patch("queues", row._id, fields as Partial<Doc<"queues">>);
  const queue = queueOf({ ...row, ...fields } as Doc<"queues">);
  if (mayNeedWake(queueOf(row), queue)) await wakeBlindly(ctx.scheduler, queue);
  const more = details === undefined ? {} : { details };
  await recordEvent(ctx, { kind, queue: row.name, message, ...more });
  return { changed: true };
}

/** A queue that is not known yet, or not as its definition has it, is declared where that came with the call. */
async function getOrDeclare(ctx: MutationCtx, { queue, declared }: Named): Promise<Doc<"queues">> {
  if (declared?.name === queue && (await findDeclared(ctx.db, declared, Date.now())) === null)
    await declare(ctx, [declared]);
  return await getRow(ctx.db, queue);
}

async function getRow(db: DatabaseReader, name: string): Promise<Doc<"queues">> {
  const row = await findQueueRow(db, name);
  if (row === null) throw unknownQueue(name);
  return row;
}

// --- Reading ------------------------------------------------------------------------------------

/**
 * A bounded number of reads, however many jobs the queue holds. Only while it drains is a subscription invalidated by
 * its jobs.
 */
export async function queueState(ctx: QueryCtx, name: string): Promise<QueueState> {
  const row = await getRow(ctx.db, name);
  const { config, configuredAt, overrides = {}, pausedAt, drainingAt } = row;
  const inForce: QueueConfig = queueOf(row).config;
  return {
    name,
    declared: config,
    declaredAt: configuredAt,
    overrides,
    inForce,
    sources: sourcesOf(inForce, config, overrides),
    ...(pausedAt === undefined ? {} : { pausedAt }),
    ...(drainingAt === undefined ? {} : { drainingAt, drained: await isEmpty(ctx.db, name) }),
  };
}

function sourcesOf(
  inForce: QueueConfig,
  declared: QueueConfig,
  overrides: QueueOverrides,
): Record<string, ConfigSource> {
  const source = (field: string) =>
    field in overrides ? "override" : field in declared ? "code" : "default";
  return Object.fromEntries(Object.keys(inForce).map((field) => [field, source(field)]));
}

/** Whether the queue holds nothing that could still be worked on. */
async function isEmpty(db: DatabaseReader, queue: string): Promise<boolean> {
  for (const status of ["running", "pending", "scheduled"] as const) {
    const rows = await db
      .query("jobs")
      .withIndex("status", (q) => q.eq("queue", queue).eq("status", status))
      .take(RANGE_ROWS);
    if (rows.length > 0) return false;
  }
  return true;
}
