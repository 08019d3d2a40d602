/**
 * Jobs by name. Where few jobs of a queue wait, its subscription names them, and each worker knows by arithmetic of its own
 * which of them are its to claim first (`src/worker/waiting.ts`): so two workers seldom claim the same job, and a claim
 * reads the job and its queue, and nothing of the other queues that its worker serves.
 *
 * A name is a hint. The subscription has read every place of the queue for real: the answer names every waiting job, or
 * has `more`. The claim reads the job for real, and passes over one that is gone or not for it.
 *
 * `nameWaiting`, in a subscription, reads for real: the queue's row, its routes, its public cursor, its places. `readNamed`,
 * in a claim, reads for real: the jobs named. Neither writes.
 */
import {
  checkLength,
  LEASES_MAX,
  NAMED_IN_PLACE_MAX,
  NAMED_MAX,
  type QueueDeclaration,
  type Waiting,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { isClaimable } from "../edges/mayTake.js";
import { compareKeys } from "../rows/cursors.js";
import type { LookRequest } from "./hasWork.js";
import type { Queue } from "../rows/queues.js";
import {
  isSpent,
  newPlaceScan,
  readAllOn,
  readOn,
  type SeenRow,
  type PlaceScan,
} from "../index/scan.js";
import { waitingRoom, type WaitingIn, type WaitingRoom } from "./claimablePlaces.js";

const NONE: Waiting = { jobs: [], more: false };
/** No name is given: a claim that searches by itself knows the order. */
const MORE: Waiting = { jobs: [], more: true };

/**
 * The waiting jobs of one queue, all of one band: where several bands are in use at once, only a claim can order their
 * jobs.
 */
export async function nameWaiting(ctx: QueryCtx, args: LookRequest): Promise<Waiting> {
  const { scanning, look } = waitingRoom(ctx, args);
  const [queue] = args.queues;
  const waiting = queue === undefined ? null : await look(queue);
  if (waiting === null) return NONE;
  let found: SeenRow[] = [];
  for (const band of waiting.bands) {
    const rows = await rowsOf(scanning, waiting, band);
    if (rows === null || isSpent(scanning.left)) return MORE;
    if (rows.length === 0) continue;
    if (found.length > 0) return MORE;
    found = rows;
  }
  const jobs = await Promise.all(found.map(({ id }) => ctx.db.get("jobs", id)));
  return { jobs: jobs.map((job) => named(job!)), more: false };
}

/** Whether the jobs of a queue are claimed in an order that a name would break. */
export function keepsOrder({ config }: Pick<Queue, "config">): boolean {
  return config.shards === 1 || config.circular;
}

function named({ _id, failedBy, prefer }: Doc<"jobs">): Waiting["jobs"][number] {
  const worker = prefer?.worker;
  return {
    ...{ id: _id, ...(failedBy === undefined ? {} : { failedBy }) },
    ...(worker === undefined ? {} : { worker }),
  };
}

/**
 * The waiting jobs of one band, in commit order; `null` if they are more than may be named. The first place is read by
 * itself: behind a backlog the subscription then depends on its first rows only, and is not invalidated by every claim
 * in other places.
 */
async function rowsOf(
  scanning: WaitingRoom["scanning"],
  waiting: WaitingIn,
  band: WaitingIn["bands"][number],
): Promise<SeenRow[] | null> {
  const { bounds, epoch } = waiting;
  const most = keepsOrder(waiting) ? 0 : NAMED_MAX;
  const [first, ...others] = band.map((place) => newPlaceScan(place, bounds, epoch));
  if (first === undefined) return [];
  await readOn(scanning, first, most + 1);
  if (takeable(first).length > most) return null;
  await readAllOn(scanning, others, NAMED_IN_PLACE_MAX);
  const rows = [first, ...others].flatMap(takeable);
  const isCut = others.some(({ end }) => end === null) || first.end === null;
  if (isCut || rows.length > most) return null;
  return rows.sort((a, b) => compareKeys(a.key, b.key));
}

function takeable({ rows }: PlaceScan): SeenRow[] {
  return rows.filter(({ cost }) => cost !== null);
}

/** The jobs that a claim names, as far as they are there to be claimed from one of its queues. */
export async function readNamed(
  db: DatabaseReader,
  named: readonly string[],
  queues: readonly QueueDeclaration[],
): Promise<Doc<"jobs">[]> {
  checkLength("The jobs that a claim names", named, 0, LEASES_MAX);
  const ids = [...new Set(named)].flatMap((id) => db.normalizeId("jobs", id) ?? []);
  const jobs = await Promise.all(ids.map((id) => db.get("jobs", id)));
  const names = new Set(queues.map(({ name }) => name));
  return jobs.filter(
    (job) => job !== null && isClaimable(job) && names.has(job.queue),
  ) as Doc<"jobs">[];
}
