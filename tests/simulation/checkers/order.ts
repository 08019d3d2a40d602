import { msOfCommit } from "../../../src/shared/index.js";
import { oldSnapshots } from "../faults/oldSnapshots.js";
import type { Change, Row } from "../observed.js";
import type { Checker } from "../part.js";
import { CIRCULAR, isOf } from "../plan.js";
import {
  changed,
  changedJobs,
  claimedBy,
  configOf,
  hasEnded,
  isLeftTo,
  isOutOfTime,
  LIAR,
  statusOf,
} from "./jobs.js";
import { sureMs } from "./slack.js";

/** A claim's scan may be a while old, may follow even older cursors, and another claim may have held the job. */
const SURE_MS = 1_000;
const OLDEST_MS = 1_000;
/** A lane leaves to another lane, for so long, the jobs that the other scans for. */
const LANE_SURE_MS = 6_000;
/** With these a queue may stand still, until one job's wake comes for that one alone. */
const UNLOOKED = ["lost schedules", "lost actions", "late", "starved", "restarts", "conflicts"];

export const order: Checker = {
  name: "order",
  promise:
    "of two eligible jobs a claim takes the one of higher priority first; in a ring of one shard, whatever it had before, a new one, and then the one with the oldest attempt",
  marks: [
    "one of higher priority goes first",
    "the next of the ring is taken",
    "a lane takes a pending job",
  ],
  watch({ plan, tables, broken, happened, nameOf, date }) {
    const seenMs = sureMs(plan, SURE_MS) + (plan.parts.includes(oldSnapshots.name) ? OLDEST_MS : 0);
    /** Items that have come round, and were not put back since. */
    const round = new Set<string>();
    /** Queues with one shard in force, since when: they may have had more before. */
    const oneShard = new Map<unknown, number>();
    /** Workers that stood still, and since when they go on: their knowledge may be as old. */
    const goesOn = new Map<string, number>();
    return {
      stood(worker, isUp) {
        if (!isUp) goesOn.set(worker, Infinity);
        else if (goesOn.has(worker)) goesOn.set(worker, date());
      },
      commit(commit) {
        for (const { after } of changed(commit, "queues")) {
          const name = after?.["name"] as string;
          if (configOf(tables, name)["shards"] !== 1) oneShard.delete(name);
          else if (!oneShard.has(name)) oneShard.set(name, date());
        }
        for (const change of changedJobs(commit)) {
          const { id, before, after } = change;
          const session = tables.get("sessions", (after?.["session"] ?? "") as string);
          const isClaimed = claimedBy(change) !== null && statusOf(before) === "pending";
          if (isClaimed && session !== undefined && session["name"] !== LIAR) {
            checkClaim(before!, session);
          }
          if (hasComeRound(change)) round.add(id);
          else if (hasLeft(change) || hasEnded(after) || isPaused(after) !== isPaused(before)) {
            // Retried by hand or resumed, it goes first.
            round.delete(id);
          }
        }
      },
    };

    /** Jobs without a round before jobs with one, independently of their rows' `order`. */
    function bandOf(row: Row): number {
      if (!isOf(CIRCULAR, row["queue"])) return (row["order"] as number) % 2;
      if ((row["rounds"] ?? 0) === 0) return 0;
      return round.has(row._id) ? 1 : (row["order"] as number) % 2;
    }

    /** Two bands are one priority's: returned jobs before new ones. In strict order both are kept. */
    function isBefore(one: Row, other: Row, isStrict: boolean): boolean {
      const [mine, its] = [priorityOf(one), priorityOf(other)];
      if (!isStrict || mine !== its) return mine < its;
      if (bandOf(one) !== bandOf(other)) return bandOf(one) < bandOf(other);
      if (one["seq"] !== other["seq"]) return one["seq"] < other["seq"];
      return one["_creationTime"] < other["_creationTime"];
    }

    function checkClaim(job: Row, session: Row): void {
      const isLane = session["lane"] !== undefined;
      if ((goesOn.get(session["name"] as string) ?? -Infinity) > date() - seenMs) return;
      if (isLane && UNLOOKED.some((part) => plan.parts.includes(part))) return;
      const queue = tables.all("queues").find(({ name }) => name === job["queue"])!;
      const { fallbackAfterMs = 0 } = configOf(tables, job["queue"] as string);
      const olderMs = isLane ? LANE_SURE_MS + (fallbackAfterMs as number) : seenMs;
      const since =
        queue["shardsEver"] === 1 ? -Infinity : (oneShard.get(queue["name"]) ?? Infinity);
      const isStrict = since + olderMs <= date();
      for (const other of tables.all("jobs")) {
        if (other["queue"] !== job["queue"] || !isClaimable(other, session)) continue;
        if (msOfCommit(other["seq"] as bigint) + olderMs > date()) {
          note(job, other, isStrict, isLane);
          continue;
        }
        if (!isBefore(other, job, isStrict)) note(job, other, isStrict, isLane);
        else broken(`${nameOf(job._id)} is taken, and ${nameOf(other._id)} waits before it`);
      }
    }

    function note(job: Row, other: Row, isStrict: boolean, isLane: boolean): void {
      if (!isBefore(job, other, isStrict)) return;
      happened(isStrict ? "the next of the ring is taken" : "one of higher priority goes first");
      if (isLane) happened("a lane takes a pending job");
    }

    function isClaimable(job: Row, session: Row): boolean {
      if (statusOf(job) !== "pending" || job["paused"] === true || hasEnded(job)) return false;
      if (isOutOfTime(job, date())) return false;
      const spec = plan.workers.find(({ name }) => name === session["name"]);
      const labels = (job["labels"] ?? []) as string[];
      // A retry is left to other workers for a while, and a costly job to workers with enough budget left.
      const isForOthers =
        (job["failedBy"] ?? []).includes(session["name"]) || spec?.maxCost !== undefined;
      if (spec?.groups?.includes(job["group"] as string) === false) return false;
      if (!isLeftTo(job, session["name"], spec?.labels)) return false;
      return !isForOthers && labels.every((label) => spec?.labels.includes(label) === true);
    }
  },
};

/** The first is the lowest. */
const priorityOf = (row: Row): number => Math.floor((row["order"] as number) / 2);

const isPaused = (row: Row | null): boolean => row?.["paused"] === true;

function hasLeft({ before, after }: Change): boolean {
  return statusOf(before) === "running" && statusOf(after) !== "running";
}

/** It has been worked on, and not only begun: it waits, or rests, until its next turn. */
function hasComeRound(change: Change): boolean {
  return hasLeft(change) && (change.before!["rounds"] ?? 0) !== (change.after?.["rounds"] ?? 0);
}
