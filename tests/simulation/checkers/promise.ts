import type { Row } from "../observed.js";
import { isFlood } from "../workloads/crowd.js";
import type { Checker, Facts } from "../part.js";
import { attemptKey, changed, changedJobs, claimedBy, configOf, statusOf } from "./jobs.js";
import { placesGiven, placesOf } from "./places.js";
import { sureMs } from "./slack.js";

/** Of all waits of a world that has enough of them to speak of a part. */
const P95_MS = 500;
const ENOUGH = 40;
/** While lanes are exchanged: the most that any job waits. */
const MAX_MS = 1_000;
/**
 * Where backlogs of several queues come at one instant that take all places, jobs have been seen to wait for 2.5 s: wakes that
 * start processes conflict over places, and a process keeps unused places for a second. More would be a fault.
 */
const MAX_IN_FLOOD_MS = 10_000;
/** With these some queues wait until a lane is missed, and 1 start in 20 has been seen to come after 619 ms. */
const UNEVEN = ["lost actions", "lost processes", "slow processes"];
/** A lane that is lost is missed when it has not called for 20 s, on a grid of 5 s; then comes a sweep. */
const MISSED_MS = 30_000;
/** A call that was refused for the last time is made again after a second, and places are asked for soon after. */
const RECOVERS_MS = 3_000;

/**
 * A wait begins when all of this holds, and anew when it holds again:
 *
 * - the job is pending and not paused, and its queue is not;
 * - its queue has room: fewer of its jobs run than `maxParallelism`;
 * - the class has places: fewer jobs of all queues run than it runs at once, and processes have been given fewer. A process gives
 *   unused places back after a second, and they are given again within another;
 * - no call of a process is refused on purpose (`slow processes`), nor was one in the last seconds;
 * - no lane of its queue was in a process that was lost less than 30 s ago, or until the janitor has ended the leases of all such
 *   lanes.
 *
 * It ends with the first report of the job's handler. A job has no wait if its process is lost before that report. Nothing else
 * excuses a wait: neither the number of other queues nor the state of their jobs.
 */
export const promise: Checker = {
  name: "promise",
  promise:
    "a job of a queue that has room begins within half a second in 95 of 100 cases, and always within a second, independently of other jobs and queues",
  marks: ["a job begins in time", "a world has enough jobs", "a crash excuses a queue"],
  watch(facts) {
    if (Object.keys(facts.plan.crowd).length === 0) return {};
    return new Waits(facts);
  },
};

interface Queue {
  /** Pending jobs by the time since which each is. */
  pending: Map<string, number>;
  running: Set<string>;
  /** Since when it has room; `null`: it has none. */
  openSince: number | null;
  excusedUntil: number;
  /** Lanes that were lost, and have not been ended. */
  lost: Set<string>;
}

class Waits {
  private readonly queues = new Map<string, Queue>();
  private readonly places: number;
  private placesSince: number | null = 0;
  /** By attempt: when the wait began of a job that has been claimed. */
  private readonly claimed = new Map<string, number>();
  /** Of jobs of a queue that wait since the same moment, as the jobs of one mutation do, the longest wait counts. */
  private readonly waits = new Map<string, number>();

  private readonly slow: readonly { from: number; until: number }[];

  constructor(private readonly facts: Facts) {
    const { plan } = facts;
    this.places = placesOf(plan);
    const timesOf = (what: string) =>
      plan.events.filter((event) => event.do === what).map(({ at }) => at);
    const ends = timesOf("slow processes.end");
    this.slow = timesOf("slow processes.begin").map((from, i) => ({
      from,
      until: ends[i]! + RECOVERS_MS,
    }));
  }

  commit(commit: Parameters<typeof changedJobs>[0]): void {
    const now = this.facts.now();
    this.seeLosses(commit, now);
    for (const change of changedJobs(commit)) {
      const row = (change.after ?? change.before)!;
      const queue = this.queueOf(row["queue"] as string);
      const attempt = claimedBy(change);
      const since = this.since(queue, change.id);
      if (attempt !== null && since !== null)
        this.claimed.set(attemptKey(change.id, attempt), since);
      queue.running.delete(change.id);
      if (statusOf(change.after) === "running") queue.running.add(change.id);
      const isThere = statusOf(change.after) === "pending" && change.after!["paused"] !== true;
      if (!isThere) queue.pending.delete(change.id);
      else if (!queue.pending.has(change.id)) queue.pending.set(change.id, now);
    }
    for (const name of this.queues.keys()) this.settle(name, now);
    let running = 0;
    for (const queue of this.queues.values()) running += queue.running.size;
    if (Math.max(running, placesGiven(this.facts.tables)) >= this.places) this.placesSince = null;
    else this.placesSince ??= now;
    for (const name of this.queues.keys()) this.checkOldest(name, now);
  }

  ran({ job, attempt, what, at }: { job: string; attempt: number; what: string; at: number }) {
    const key = attemptKey(job, attempt);
    const since = this.claimed.get(key);
    if (what !== "began" || since === undefined) return;
    this.claimed.delete(key);
    this.waited(job, at - since, since);
  }

  end(): void {
    const { plan, broken, happened } = this.facts;
    const isUneven = isFlood(plan.crowd) || UNEVEN.some((part) => plan.parts.includes(part));
    if (this.waits.size < ENOUGH || isUneven) return;
    happened("a world has enough jobs");
    const sorted = [...this.waits.values()].sort((a, b) => a - b);
    const p95 = sorted[Math.floor(sorted.length * 0.95)]!;
    if (p95 > sureMs(plan, P95_MS))
      broken(`of ${sorted.length} starts 1 in 20 comes after ${p95.toFixed()} ms or later`);
  }

  private waited(job: string, ms: number, since: number): void {
    const { broken, happened, nameOf, tables } = this.facts;
    const queue = tables.all("jobs").find(({ _id }) => _id === job)?.["queue"] as string;
    const start = `${queue} ${since}`;
    this.waits.set(start, Math.max(ms, this.waits.get(start) ?? 0));
    if (ms <= this.mostMs()) happened("a job begins in time");
    else broken(`${nameOf(job)} began after ${ms.toFixed()} ms, and its queue had room`);
  }

  private mostMs(): number {
    const { plan } = this.facts;
    return sureMs(plan, isFlood(plan.crowd) ? MAX_IN_FLOOD_MS : MAX_MS);
  }

  private queueOf(name: string): Queue {
    const known = this.queues.get(name);
    if (known !== undefined) return known;
    const made: Queue = {
      pending: new Map(),
      running: new Set(),
      openSince: null,
      excusedUntil: -Infinity,
      lost: new Set(),
    };
    if (name in this.facts.plan.crowd) this.queues.set(name, made);
    return made;
  }

  private settle(name: string, now: number): void {
    const { tables } = this.facts;
    const queue = this.queueOf(name);
    const row = tables.all("queues").find((one) => one["name"] === name);
    const { maxParallelism } = configOf(tables, name);
    const isOpen = row?.["pausedAt"] === undefined && queue.running.size < maxParallelism;
    if (!isOpen) queue.openSince = null;
    else queue.openSince ??= now;
  }

  /** Since when the job waits for nothing but the component. */
  private since(queue: Queue, job: string): number | null {
    const pending = queue.pending.get(job);
    if (pending === undefined || queue.openSince === null || this.placesSince === null) return null;
    const now = this.facts.now();
    const slow = this.slow.filter(({ from }) => from <= now).map(({ until }) => until);
    return Math.max(pending, queue.openSince, this.placesSince, queue.excusedUntil, ...slow);
  }

  /** Of a queue with room the job that has waited longest, which is the first of the map. */
  private checkOldest(name: string, now: number): void {
    const queue = this.queueOf(name);
    const [job] = queue.pending.keys();
    const since = job === undefined ? null : this.since(queue, job);
    if (since === null || now - since <= this.mostMs()) return;
    this.facts.broken(
      `${this.facts.nameOf(job!)} waits for ${(now - since).toFixed()} ms, and its queue has room`,
    );
  }

  /** Functions that have ended without a report, and lanes with leases that a sweep has ended. */
  private seeLosses(commit: Parameters<typeof changedJobs>[0], now: number): void {
    for (const { id, after } of changed(commit, "_scheduled_functions")) {
      const kind = (after?.["state"] as { kind: string } | undefined)?.kind;
      if (kind !== "failed" && kind !== "canceled") continue;
      for (const session of this.facts.tables.all("sessions")) {
        if (session["runsIn"] === id && session["state"] === "active") this.lose(session, now);
      }
    }
    for (const { id, after } of changed(commit, "sessions")) {
      if (after?.["lane"] === undefined || after["state"] !== "gone") continue;
      const queue = this.queueOf(after["queues"][0] as string);
      if (queue.lost.delete(id) && queue.lost.size === 0)
        queue.excusedUntil = Math.min(queue.excusedUntil, now);
    }
  }

  private lose(session: Row, now: number): void {
    this.facts.happened("a crash excuses a queue");
    const queue = this.queueOf(session["queues"][0] as string);
    queue.lost.add(session._id);
    queue.excusedUntil = now + MISSED_MS;
    for (const { id, attempt } of session["leases"] as { id: string; attempt: number }[])
      this.claimed.delete(attemptKey(id, attempt));
  }
}
