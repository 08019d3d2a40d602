import { onlyForgets } from "../../support/forgetting.js";
import { ARGS_TABLE } from "../../../local/functions/scheduledTable.js";
import { COMPONENT } from "../deployment.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed } from "./jobs.js";

const SCHEDULED = "_scheduled_functions";
/** The janitor's slack after a lease's end and the tolerance of a timer, and a little for a commit's own time. */
const SWEEP_WITHIN_MS = 100 + 250 + 50;
/** The functions of a queue at rest: finished jobs are counted and purged. */
const UPKEEP = /^(count\/)?(rollUp|arrivals|purge)\b/;
const WATCHED = new Set(["jobs", "sessions", "timers", "expiries", SCHEDULED]);

export const timers: Checker = {
  name: "timers",
  promise:
    "every timer has a function that will run, unless that was canceled from outside; every lease, due time and deadline has a timer; and at rest there is none",
  marks: [
    "a janitor's timer stands behind leases",
    "an alarm stands for a job that waits",
    "an alarm stands for a job that expires",
    "a timer's function was ended from outside",
  ],
  watch({ plan, tables, broken, happened, nameOf, date }) {
    /** Functions of timers that are to run, or run. */
    const open = new Map<string, { timer: string; generation: number | undefined }>();
    /** Functions that were canceled or have failed: then a repair has to notice, in time. */
    let isDisturbed = false;
    return {
      commit(commit) {
        for (const { id, after } of changed(commit, SCHEDULED)) note(id, after);
        const isTouched = commit.changes.some(
          ({ namespace, table }) => namespace === COMPONENT && WATCHED.has(table),
        );
        if (isTouched && !isDisturbed) checkAll();
      },
      /** A timer for a future time may stay, even if no row needs it any more. */
      end() {
        const sessions = tables.all("sessions");
        for (const timer of tables.all("timers")) {
          const { _id, kind, queue, dueAt } = timer;
          const isLeft =
            dueAt < date() || (kind === "janitor" && !onlyForgets(timer, sessions, date()));
          const isDead = isDisturbed && ![...open.values()].some(({ timer }) => timer === _id);
          if (UPKEEP.test(kind as string) || !isLeft || isDead) continue;
          broken(`a timer of ${kind as string} remains in ${String(queue)}`);
        }
        for (const { name, state, scheduledTime } of tables.all(SCHEDULED)) {
          if (state.kind !== "pending" || UPKEEP.test(name as string)) continue;
          if (scheduledTime < date()) broken(`${name as string} is still to run`);
        }
      },
    };

    function note(id: string, row: Row | null): void {
      const kind = row?.["state"].kind as string | undefined;
      if (kind === "canceled" || kind === "failed") isDisturbed ||= isLost(id, kind);
      const [args] = (tables.get(ARGS_TABLE, row?.["argsId"] as string)?.["args"] ?? []) as {
        timer?: string;
        generation?: number;
      }[];
      const isOpen = kind === "pending" || kind === "inProgress";
      if (isOpen && args?.timer !== undefined) {
        open.set(id, { timer: args.timer, generation: args.generation });
      } else open.delete(id);
    }

    /**
     * The component itself cancels leftover wakes and callback plans. A function canceled from outside schedules nothing, alarms
     * neither.
     */
    function isLost(id: string, kind: string): boolean {
      const isOfTimer =
        open.has(id) || tables.all("timers").some((row) => row["scheduledId"] === id);
      if (isOfTimer) happened("a timer's function was ended from outside");
      return isOfTimer || kind === "failed" || plan.parts.includes("lost schedules");
    }

    function checkAll(): void {
      const rows = tables.all("timers");
      const armed = rows.filter(({ _id, generation }) =>
        [...open.values()].some((one) => one.timer === _id && one.generation === generation),
      );
      for (const { _id, kind, queue } of rows) {
        if (armed.some((row) => row._id === _id)) continue;
        broken(`the timer ${kind as string} of ${String(queue)} has no function`);
      }
      checkLeases(armed);
      for (const { _id, status, queue, order } of tables.all("jobs")) {
        if (status !== "scheduled") continue;
        if (comes(armed, "dispatcher", queue, order))
          happened("an alarm stands for a job that waits");
        else broken(`${nameOf(_id)} is scheduled, and no alarm will ring for it`);
      }
      for (const { job, queue, at } of tables.all("expiries")) {
        if (comes(armed, "expiry", queue, at)) happened("an alarm stands for a job that expires");
        else broken(`${nameOf(job)} expires, and no alarm will ring for it`);
      }
    }

    function checkLeases(armed: readonly Row[]): void {
      const sessions = tables.all("sessions").filter(({ state }) => state === "active");
      if (!sessions.some(({ leases }) => leases.length > 0)) return;
      const ends = Math.min(...sessions.map(({ expiresAt }) => expiresAt as number));
      const next = Math.min(
        ...armed.flatMap(({ kind, dueAt }) => (kind === "janitor" ? [dueAt as number] : [])),
      );
      // A sweep that was late itself and has left something comes again at once.
      if (next <= Math.max(ends, date()) + SWEEP_WITHIN_MS)
        happened("a janitor's timer stands behind leases");
      else broken(`leases end at ${ends}, and the janitor comes at ${next}`);
    }

    function comes(armed: readonly Row[], kind: string, queue: unknown, at: number): boolean {
      return armed.some(({ start = 0, width = 0, position, ...timer }) => {
        const from = Math.max(start as number, (position?.from ?? start) as number);
        return (
          timer["kind"] === kind && timer["queue"] === queue && from <= at && at < start + width
        );
      });
    }
  },
};
