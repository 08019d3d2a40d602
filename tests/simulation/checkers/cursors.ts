import { FINISHED_STATUSES, type FinishedStatus } from "../../../src/shared/index.js";
import { boundsIn, type Bound } from "../../races/cursor.js";
import type { WorkerSpec } from "../plan.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed, changedJobs, isLeftTo, isOutOfTime, LIAR, hasEnded, statusOf } from "./jobs.js";

interface Key {
  seq: bigint;
  creationTime: number;
}
interface Cursor {
  bounds: readonly Bound[];
  /** Of a session, a worker's or a lane's: jobs that prefer another worker are passed, until they come back with a newer seq. */
  spec?: Pick<WorkerSpec, "name" | "labels"> | undefined;
  /** Of all places that are not named. */
  floor: Key | null;
}

type CountedUpTo = (Key & { status: FinishedStatus })[];

export const cursors: Checker = {
  name: "cursors",
  promise:
    "below a cursor, published or a session's own, nothing is claimable or becomes so; and each finished job is counted once",
  marks: ["a cursor is published", "a session has a cursor", "finished jobs are counted"],
  watch({ plan, tables, broken, happened, nameOf, date }) {
    /** By queue, then by owner of the cursor. */
    const known = new Map<string, Map<string, Cursor>>();
    const of = (queue: string) => {
      const own = known.get(queue) ?? new Map<string, Cursor>();
      known.set(queue, own);
      return own;
    };
    return {
      commit(commit) {
        for (const { id, after } of changed(commit, "cursors")) {
          if (after === null) continue;
          happened("a cursor is published");
          const { queue, bounds, floor } = after;
          put(queue as string, id, { bounds, floor: floor ?? null });
        }
        for (const { id, before, after } of changed(commit, "sessions")) {
          const cursor = after?.["reply"].cursor as string | undefined;
          // The liar sends cursors of its own making, and harms only its own claims.
          if (after?.["name"] === LIAR) continue;
          // A cursor for some groups passes jobs of other groups for good.
          const spec = plan.workers.find(({ name }) => name === after?.["name"]);
          if ((spec?.groups ?? spec?.token) !== undefined) continue;
          const own = spec ?? { name: String(after?.["name"]), labels: [] };
          if (cursor === undefined || cursor === before?.["reply"].cursor) continue;
          for (const [queue, bounds] of boundsIn(cursor)) {
            if (bounds.length > 0) happened("a session has a cursor");
            put(queue, id, { bounds, floor: null, spec: own });
          }
        }
        for (const { after } of changedJobs(commit)) {
          if (after === null) continue;
          if (statusOf(after) === "pending") {
            for (const cursor of of(after["queue"] as string).values()) check(cursor, after);
          }
          if (hasEnded(after)) checkUncounted(after);
        }
        for (const { before, after } of changed(commit, "counted")) {
          if (after === null) continue;
          const upTo = (before?.["upTo"] ?? []) as CountedUpTo;
          checkCounted(after, upTo, minutes(after["queue"]), gone(after["queue"]));
        }

        /** Ends with rows that this commit removes and counts. */
        function gone(queue: unknown): FinishedStatus[] {
          return changed(commit, "ended").flatMap(({ before, after }) =>
            after === null && before!["queue"] === queue
              ? [before!["status"] as FinishedStatus]
              : [],
          );
        }

        function minutes(queue: unknown): Record<string, number> {
          const added: Record<string, number> = {};
          for (const { before, after } of changed(commit, "periods")) {
            if (after === null || after["queue"] !== queue || after["per"] !== "minute") continue;
            for (const status of FINISHED_STATUSES) {
              added[status] = (added[status] ?? 0) + after[status] - (before?.[status] ?? 0);
            }
          }
          return added;
        }
      },
    };

    function put(queue: string, whose: string, cursor: Cursor): void {
      of(queue).set(whose, cursor);
      for (const job of tables.all("jobs")) {
        if (job["queue"] === queue && statusOf(job) === "pending") check(cursor, job);
      }
    }

    function check({ bounds, floor, spec }: Cursor, job: Row): void {
      // A paused job stands in no place that claims scan, and comes back with a newer seq.
      if (job["paused"] === true) return;
      // A search passes it: no claim may take it, and its alarm ends it.
      if (isOutOfTime(job, date())) return;
      if (spec !== undefined && !isLeftTo(job, spec.name, spec.labels)) return;
      const named = bounds.find(
        ({ order, shard }) => order === job["order"] && shard === job["shard"],
      );
      const bound = named ?? floor;
      if (bound !== null && isBelow(job, bound)) {
        broken(`${nameOf(job._id)} is pending below a cursor, where no claim scans`);
      }
    }

    /** A job that finishes from now on must still be uncounted. */
    function checkUncounted(job: Row): void {
      const counted = tables.all("counted").find(({ queue }) => queue === job["queue"]);
      const upTo = (counted?.["upTo"] ?? []) as CountedUpTo;
      const bound = upTo.find(({ status }) => status === statusOf(job));
      if (bound !== undefined && isBelow(job, bound)) {
        broken(`${nameOf(job._id)} has ended below the count's bound`);
      }
    }

    function checkCounted(
      row: Row,
      before: CountedUpTo,
      added: Record<string, number>,
      gone: readonly FinishedStatus[],
    ): void {
      for (const { status, ...to } of row["upTo"] as CountedUpTo) {
        const from = before.find((one) => one.status === status);
        const isPassed = (job: Row) =>
          job["queue"] === row["queue"] &&
          statusOf(job) === status &&
          isBelow(job, to) &&
          (from === undefined || !isBelow(job, from));
        const passed =
          tables.all("jobs").filter(isPassed).length + gone.filter((one) => one === status).length;
        const count = added[status] ?? 0;
        if (count > 0) happened("finished jobs are counted");
        if (count !== passed) {
          broken(`${count} ${status} of ${row["queue"] as string} are counted, ${passed} are`);
        }
      }
    }
  },
};

function isBelow(job: Row, { seq, creationTime }: Key): boolean {
  const own = job["seq"] as bigint;
  return own < seq || (own === seq && job["_creationTime"] < creationTime);
}
