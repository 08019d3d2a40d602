import { EDGES, FINISHED_STATUSES, isFinished, msOfCommit } from "../../../src/shared/index.js";
import type { Status } from "../../../src/shared/index.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { wayBetween, wayOfNew } from "./edges.js";
import { changed, changedJobs } from "./jobs.js";

const MINUTE_MS = 60_000;
const COUNTED = ["enqueued", ...FINISHED_STATUSES] as const;

export const statistics: Checker = {
  name: "statistics",
  promise:
    "the minutes, hours and days of a queue have every job that came in, and every end, once, in the minute of it, also of jobs that are gone; and for each end of a job that was begun, one start",
  marks: [
    "a new job is counted",
    "a new job is counted that is gone",
    "an end is counted",
    "an end is counted that was taken away",
    "a gauge is kept",
    "a gauge is kept no longer",
  ],
  watch({ tables, broken, happened }) {
    /** By queue, minute and kind of event. */
    const history = new Map<string, number>();
    /** Queues in which a job ended and was taken up again in one commit: which minute that was is not to be seen. */
    const vague = new Set<string>();
    return {
      commit(commit) {
        for (const { before, after } of changedJobs(commit)) {
          if (after === null) continue;
          if (before === null) add(after, "enqueued", after["enqueuedAt"] as number);
          if (before !== null && before["seq"] === after["seq"]) continue;
          const way = before === null ? wayOfNew(after) : wayBetween(before, after);
          for (const edge of way ?? []) {
            const { to }: { to: Status } = EDGES[edge];
            if (!isFinished(to)) continue;
            if (after["status"] !== to) vague.add(after["queue"] as string);
            add(after, to, msOfCommit(after["seq"] as bigint));
          }
        }
        for (const { before, after } of changed(commit, "gauges")) {
          if (after?.["isKept"] === true) happened("a gauge is kept");
          else if (before?.["isKept"] === true) happened("a gauge is kept no longer");
        }
        for (const { after } of changed(commit, "arrived")) {
          if (after === null) happened("a new job is counted that is gone");
        }
        for (const { after } of changed(commit, "ended")) {
          if (after === null) happened("an end is counted that was taken away");
        }
      },
      end() {
        for (const table of ["arrived", "ended"]) {
          const left = tables.all(table).length;
          if (left > 0) broken(`${left} rows of ${table} are left`);
        }
        const queues = new Set(tables.all("queues").map(({ name }) => name as string));
        for (const queue of queues) check(queue);
      },
    };

    function add({ queue }: Row, what: string, at: number): void {
      const key = keyOf(queue as string, Math.floor(at / MINUTE_MS) * MINUTE_MS, what);
      history.set(key, (history.get(key) ?? 0) + 1);
    }

    function check(queue: string): void {
      const periods = tables.all("periods").filter((row) => row["queue"] === queue);
      const by = (per: string) => periods.filter((row) => row["per"] === per);
      const minutes = by("minute");
      const sums = ["minute", "hour", "day", "ever"].map((per) => sumOf(by(per)));
      const [first] = sums;
      for (const other of sums) {
        if (JSON.stringify(other) !== JSON.stringify(first)) {
          broken(
            `hours or days of ${queue} are ${JSON.stringify(other)}, its minutes ${JSON.stringify(first)}`,
          );
        }
      }
      const { started, waited, ran } = first!;
      if (started !== waited || started !== ran) {
        broken(`${queue}: ${started} starts are counted, ${waited} waits, and ${ran} runs`);
      }
      for (const what of COUNTED) checkCount(queue, what, minutes);
    }

    function checkCount(queue: string, what: (typeof COUNTED)[number], minutes: Row[]): void {
      const counted = new Map(
        minutes.map((row) => [row["at"] as number, (row[what] ?? 0) as number]),
      );
      const was = (minute: number) => history.get(keyOf(queue, minute, what)) ?? 0;
      const total = (of: Iterable<number>) => [...of].reduce((sum, count) => sum + count, 0);
      const happenedIn = minutesOf(queue, what);
      const [is, should] = [total(counted.values()), total(happenedIn.map(was))];
      if (is !== should) broken(`of ${queue} ${is} ${what} are counted, and ${should} were`);
      else if (is > 0) happened(what === "enqueued" ? "a new job is counted" : "an end is counted");
      if (vague.has(queue) && what !== "enqueued") return;
      for (const minute of new Set([...counted.keys(), ...happenedIn])) {
        const count = counted.get(minute) ?? 0;
        if (count === was(minute) || is !== should) continue;
        broken(`of ${queue} ${count} ${what} are counted in a minute in which ${was(minute)} were`);
      }
    }

    function minutesOf(queue: string, what: string): number[] {
      return [...history.keys()].flatMap((key) => {
        const [name, minute, of] = JSON.parse(key) as [string, number, string];
        return name === queue && of === what ? [minute] : [];
      });
    }
  },
};

const keyOf = (queue: string, minute: number, what: string) =>
  JSON.stringify([queue, minute, what]);

/** Of all rows together. */
function sumOf(rows: readonly Row[]) {
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0);
  const jobsIn = (histogram: number[]) => histogram.reduce((all, count) => all + count, 0);
  return {
    ...Object.fromEntries(COUNTED.map((what) => [what, sum((row) => row[what] ?? 0)])),
    started: sum(({ started }) => started ?? 0),
    waited: sum(({ waitMs }) => jobsIn(waitMs)),
    ran: sum(({ runMs }) => jobsIn(runMs)),
  };
}
