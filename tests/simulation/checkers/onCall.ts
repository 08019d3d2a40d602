import { IDLE_LIVE_MS } from "../../../src/shared/index.js";
import { CREW, dutyIn, sessionsOfCrew, type Duty } from "../crew.js";
import type { Row } from "../observed.js";
import type { Checker, Commit, Facts } from "../part.js";
import { hasCrew } from "../workloads/onCall.js";
import { changed, changedJobs, statusOf } from "./jobs.js";
import { preferencesOf } from "./preferences.js";
import { sureMs } from "./slack.js";

/** A job alone begins so late in a fleet at rest, and a job of a burst. */
const ALONE_MS = 200;
const IN_BURST_MS = 1_000;
/** One worker on call that is dead, or stands still, delays a job by no more. */
const ONE_DEAD_MS = 500;
/** All of them. */
const ALL_DEAD_MS = 12_000;
/** The worker that watches is lost with them: a worker of the first places says within a minute that it lives, and sees silent sessions. */
const MINUTE_MS = 60_000;
const SILENT_MS = 30_000;
/** A preference ends to a second. */
const PREFERENCE_MS = 1_000;
/** A program has begun, or goes on: until it follows its queue or its call-ups. */
const CONNECTS_MS = 2_000;
/** Beats of workers on call come every 20 s: two of them are enough to see and forget the dead. */
export const FORGETS_MS = IDLE_LIVE_MS + 45_000;
/** Call-ups are kept for a day, and longer only until the next come: with each of these two go. */
const DAY_MS = 24 * 60 * 60_000;
const GO_EACH_TIME = 2;

/**
 * A wait is of a job that is pending, without a preference, while a worker without a job is there: each of them may take it.
 * How long it may be is said by the workers that live:
 *
 * - one is on call with room, or no row says so of a dead one: half a second and a normal start;
 * - the one that watches lives, or one that is on call without room: 12 s;
 * - one that stands by and says every minute that it lives: a minute after the dead are silent.
 */
export const onCallKept: Checker = {
  name: "on call",
  promise:
    "while a worker of a fleet has room a job begins soon, also where a worker on call has died, and within 12 s where all of them have; no duty of a dead worker stays, and no call-up",
  marks: [
    ...["a job begins although one is dead", "a job begins although all on call are dead"],
    ...["a job begins although the watch is dead", "a dead worker's duty is forgotten"],
    "old call-ups are forgotten",
  ],
  watch(facts) {
    return hasCrew(facts.plan) ? new Fleet(facts) : {};
  },
};

/** How well the fleet is watched: the least of these that holds. */
const [WELL, SOME] = [0, 1];

class Fleet {
  /** Workers with a program that runs, and since when. */
  private readonly up = new Map<string, number>();
  /** Workers that have had room all the time since then, in a fleet that was at least so well watched. */
  private readonly spans: Map<string, number>[] = [new Map(), new Map(), new Map()];
  /** Since when a worker with a beat every 20 s is on call. */
  private beatsSince: number | null = null;
  private readonly waits = new Map<string, { since: number; isAlone: boolean }>();
  private readonly prefers: ReturnType<typeof preferencesOf>;

  constructor(private readonly facts: Facts) {
    this.prefers = preferencesOf(facts.plan);
  }

  stood(worker: string, isUp: boolean): void {
    if (!worker.startsWith(CREW)) return;
    this.checkWaits();
    if (isUp) this.up.set(worker, this.facts.now());
    else this.up.delete(worker);
    this.look();
  }

  commit(commit: Commit): void {
    const { tables, date, happened, now } = this.facts;
    this.checkWaits();
    for (const change of changedJobs(commit)) {
      const { id, before, after } = change;
      if (statusOf(before) === "pending" && statusOf(after) === "running") this.begins(id);
      if (statusOf(after) !== "pending" || after!["paused"] === true) this.waits.delete(id);
      else if (!this.waits.has(id) || before?.["seq"] !== after!["seq"])
        this.waits.set(id, { since: now(), isAlone: this.isAlone(id) });
    }
    for (const { before, after } of changed(commit, "sessions"))
      if (isDead(before, date()) && after !== null && dutyIn(after) === "none")
        happened("a dead worker's duty is forgotten");
    this.checkCallUps(commit);
    this.look();
    if (this.beatsSince === null || now() - this.beatsSince < FORGETS_MS) return;
    for (const row of tables.all("sessions"))
      if (isDead(row, date() - (FORGETS_MS - IDLE_LIVE_MS)))
        this.facts.broken(`the duty of ${row["name"] as string}, which is dead, is not forgotten`);
  }

  gone(): void {
    const rows = this.facts.tables.all("callUps");
    const keys = new Set(rows.map(({ peers }) => peers as string));
    if (keys.size < rows.length) this.facts.broken("a set of workers has two rows of call-ups");
  }

  /** With each new row two old ones go, if there are so many. */
  private checkCallUps(commit: Commit): void {
    const rows = changed(commit, "callUps");
    const came = rows.filter(({ before }) => before === null).length;
    if (came === 0) return;
    const went = rows.filter(({ after }) => after === null).length;
    const isOld = ({ at }: Row) => at < this.facts.date() - DAY_MS - MINUTE_MS;
    const left = this.facts.tables.all("callUps").filter(isOld).length;
    if (went > 0) this.facts.happened("old call-ups are forgotten");
    if (left > 0 && went < GO_EACH_TIME * came)
      this.facts.broken(`${left} rows of call-ups are old, and ${went} went for ${came} new ones`);
  }

  private isAlone(job: string): boolean {
    return !this.facts.tables
      .all("jobs")
      .some((row) => row._id !== job && ["pending", "running"].includes(row["status"] as string));
  }

  private begins(job: string): void {
    const wait = this.waits.get(job);
    if (wait === undefined) return;
    const { happened, tables } = this.facts;
    const ghosts = this.ghosts(tables.all("sessions"));
    if (ghosts.length === 0) return;
    const isOn = (...duties: Duty[]) => ghosts.some((row) => duties.includes(dutyIn(row)));
    if (this.spans[WELL]!.size > 0 && isOn("onCall", "full"))
      happened("a job begins although one is dead");
    if (this.spans[WELL]!.size === 0 && this.spans[SOME]!.size > 0)
      happened("a job begins although all on call are dead");
    if (this.spans[SOME]!.size === 0) happened("a job begins although the watch is dead");
  }

  /** Sessions with a duty, without a program that runs. */
  private ghosts(rows: readonly Row[]): Row[] {
    const newest = sessionsOfCrew(this.facts.tables);
    return rows.filter((row) => {
      const name = row["name"] as string;
      if (dutyIn(row) === "none" || !name.startsWith(CREW)) return false;
      return newest.get(name) !== row || !this.up.has(name);
    });
  }

  private look(): void {
    const { plan, tables, now } = this.facts;
    const there = [...sessionsOfCrew(tables).values()].filter(({ name }) => {
      const since = this.up.get(name as string);
      return since !== undefined && now() - since >= sureMs(plan, CONNECTS_MS);
    });
    const free = there.filter(({ leases }) => leases.length === 0);
    const isThere = (duty: Duty) => there.some((row) => dutyIn(row) === duty);
    const isCalm = this.ghosts(tables.all("sessions")).length === 0;
    for (const spans of this.spans) {
      for (const worker of spans.keys())
        if (!free.some(({ name }) => name === worker)) spans.delete(worker);
    }
    for (const row of free) {
      const duty = dutyIn(row);
      const isWell = isCalm || duty === "onCall" || duty === "none";
      const isSome = isWell || duty === "watching" || isThere("full");
      const isSeen = isSome || (duty === "standby" && row["silentMs"] <= MINUTE_MS);
      for (const [i, holds] of [isWell, isSome, isSeen].entries()) {
        const [spans, name] = [this.spans[i]!, row["name"] as string];
        if (!holds) spans.delete(name);
        else if (!spans.has(name)) spans.set(name, now());
      }
    }
    const beats =
      (isThere("onCall") || isThere("full")) && (isThere("watching") || isThere("standby"));
    this.beatsSince = beats ? (this.beatsSince ?? now()) : null;
  }

  private checkWaits(): void {
    const { plan, now, broken, nameOf } = this.facts;
    for (const [job, { since, isAlone }] of this.waits) {
      const from = Math.max(since, this.preferredUntil(job));
      const startMs = isAlone ? ALONE_MS : IN_BURST_MS;
      const bounds = [startMs + ONE_DEAD_MS, ALL_DEAD_MS, MINUTE_MS + SILENT_MS + startMs];
      for (const [i, bound] of bounds.entries()) {
        const [worker, free] = [...this.spans[i]!].sort(([, a], [, b]) => a - b)[0] ?? ["", null];
        if (free === null) continue;
        const ms = now() - Math.max(from, free);
        if (ms <= sureMs(plan, bound)) continue;
        broken(`${nameOf(job)} waits for ${ms.toFixed()} ms beside ${worker}, ${WATCHED[i]}`);
        this.waits.delete(job);
        break;
      }
    }
  }

  /** As milliseconds from the start. */
  private preferredUntil(job: string): number {
    const { tables, nameOf, date, now } = this.facts;
    const prefer = this.prefers.get(nameOf(job));
    const row = tables.get("jobs", job);
    if (prefer === undefined || row === undefined || row["attempt"] > 0) return -Infinity;
    const until = row["enqueuedAt"] + prefer.runAfter + prefer.forMs + PREFERENCE_MS;
    return until - (date() - now());
  }
}

const WATCHED = [
  "and a worker on call lives",
  "and one lives that watches",
  "which says every minute that it lives",
];

/** A worker on call, or the one that watches, that has not been heard of for long. */
function isDead(row: Row | null, now: number): boolean {
  if (row === null) return false;
  const isOnCall = ["onCall", "full", "watching"].includes(dutyIn(row));
  return isOnCall && (row["lastSeenAt"] as number) < now - IDLE_LIVE_MS;
}
