import {
  INLINE_OPEN_MS,
  limitsOf,
  PROCESS_LIFE_MS,
  PROCESS_WIDTH,
} from "../../../src/shared/index.js";
import type { Change, Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed, configOf } from "./jobs.js";

/** Between a call's own time and its commit, where nothing is wrong. */
const ON_ITS_WAY_MS = 2_000;

const isRunning = (row: Row | null | undefined): boolean =>
  row !== null && row !== undefined && row["state"] !== "free";

export const processes: Checker = {
  name: "processes",
  promise:
    "never more processes run than the mount has slots, nor have more places than its class; places are a running process's, lanes are handed to one that receives, and a lane takes no jobs when its process is too old; in the end all slots are free, and nothing waits",
  marks: [
    "a process starts",
    "a process receives",
    "a process ends",
    "places are given",
    "a lane is handed over",
    "a queue waits",
  ],
  watch({ plan, tables, broken, happened, date }) {
    const limits = limitsOf(plan.class);
    return {
      commit(commit) {
        for (const { before, after } of changed(commit, "processes")) {
          if (!isRunning(before) && isRunning(after)) happened("a process starts");
          if (!isRunning(before) && after?.["state"] === "receiving")
            happened("a process receives");
          if (!isRunning(before) || isRunning(after)) continue;
          happened("a process ends");
          checkEnded(before!);
        }
        if (changed(commit, "handOvers").some(({ before }) => before === null))
          happened("a lane is handed over");
        if (changed(commit, "waitingQueues").some(({ before }) => before === null))
          happened("a queue waits");
        const isTouched = ["processes", "grants", "handOvers"].some(
          (table) => changed(commit, table).length > 0,
        );
        if (isTouched) checkSlots();
        for (const change of changed(commit, "sessions")) checkTaken(change);
      },
      end() {
        for (const row of tables.all("processes"))
          if (isRunning(row)) broken(`the slot ${row["number"]} is ${row["state"]} at the end`);
        for (const table of ["grants", "handOvers", "waitingQueues"]) {
          const rows = tables.all(table);
          if (rows.length > 0) broken(`${table} has ${rows.length} rows at the end`);
        }
      },
    };

    /** Its slot is free: no lane runs in it, or it has ended without a word. */
    function checkEnded({ number, scheduledId }: Row): void {
      const scheduled = tables.get("_scheduled_functions", scheduledId as string);
      if (scheduled?.["state"].kind !== "inProgress") return;
      const lane = tables
        .all("sessions")
        .find(({ state, runsIn }) => state === "active" && runsIn === scheduledId);
      if (lane !== undefined)
        broken(`the slot ${number} is free, and ${lane["name"]} runs in its process`);
    }

    function checkSlots(): void {
      const running = tables.all("processes").filter(isRunning);
      if (running.length > limits.slots)
        broken(`${running.length} processes run, and ${limits.slots} may`);
      let extra = 0;
      for (const row of tables.all("grants")) {
        happened("places are given");
        extra += row["extra"] as number;
        if (!isRunning(tables.get("processes", row["process"] as string)))
          broken("a process that does not run has places");
        if (row["extra"] >= PROCESS_WIDTH) broken(`a process has ${row["extra"]} more places`);
      }
      if (extra > limits.all - limits.slots)
        broken(`processes have ${extra} more places, and the class ${limits.all - limits.slots}`);
      for (const { process } of tables.all("handOvers")) {
        const state = tables.get("processes", process as string)?.["state"] as string;
        if (state !== "receiving") broken(`a lane is handed to a process that is ${state}`);
      }
    }

    /** A step of a lane has taken jobs: the process that it runs in is young enough for them. */
    function checkTaken({ before, after }: Change): void {
      if (before === null || after?.["lane"] === undefined || after["state"] !== "active") return;
      if (before["generation"] !== after["generation"] || before["state"] !== "active") return;
      const known = new Set((before["leases"] as { id: string }[]).map(({ id }) => id));
      const taken = (after["leases"] as { id: string }[]).filter(({ id }) => !known.has(id));
      const row = tables.all("processes").find((one) => one["scheduledId"] === after["runsIn"]);
      if (taken.length === 0 || row === undefined) return;
      const { handler } = configOf(tables, after["queues"][0] as string);
      const openMs = handler?.kind === "inline" ? INLINE_OPEN_MS : PROCESS_LIFE_MS;
      const ageMs = date() - (row["openedAt"] as number);
      if (ageMs > openMs + ON_ITS_WAY_MS)
        broken(`${after["name"]} takes jobs in a process that is ${ageMs.toFixed()} ms old`);
    }
  },
};
