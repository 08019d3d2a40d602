import { LOOP, ROWS } from "../app/names.js";
import type { Change, Commit, Row } from "../observed.js";
import type { Checker, Facts } from "../part.js";
import { hasRows, isRows } from "../workloads/rows.js";
import { changed, changedJobs, hasEnded, insertedIn, isDeletionAsked, statusOf } from "./jobs.js";

/** The state that each end of a job leaves in its row. */
const STATES: Record<string, string> = {
  succeeded: "done",
  failed: "bad",
  timedOut: "bad",
  canceled: "stopped",
};

export const rowsEnd: Checker = {
  name: "rows",
  promise:
    "a row that the app makes claimable has one job, and ends once, with the app's own results in the transaction of its end; no job is made of a row that is gone, or given out where the row asks for its end; a row that runs has a job; and each row of a loop is in one batch",
  marks: [
    "a row has ended",
    "a row ends by another attempt",
    "a row that is gone ends its job",
    "a row is canceled by itself",
    "a row has another job",
    "rows are announced, and none any more",
    "a row of a loop is done",
  ],
  watch(facts) {
    if (!hasRows(facts.plan)) return {};
    return new Rows(facts);
  },
};

class Rows {
  /** By row: how many ends it has had. */
  private readonly ends = new Map<string, number>();

  constructor(private readonly facts: Facts) {}

  commit(commit: Commit): void {
    const { happened } = this.facts;
    const jobs = changedJobs(commit).filter(({ before, after }) =>
      isRows((after ?? before)!["queue"]),
    );
    for (const change of jobs) this.checkJob(change);
    for (const table of ROWS)
      for (const change of changed(commit, table, "")) this.checkRow(commit, change, table);
    for (const { before, after } of changed(commit, "announced")) {
      if (before?.["more"] === true && after?.["more"] === false)
        happened("rows are announced, and none any more");
    }
    for (const { before, after } of changed(commit, LOOP, "")) {
      if (before === null || after === null) continue;
      const isDone = before["state"] === "new" && after["state"] === "done" && after["times"] === 1;
      if (isDone) happened("a row of a loop is done");
      else this.facts.broken(`row ${after["n"] as number} of ${LOOP} is in another batch`);
    }
  }

  end(): void {
    const { broken, tables, asked } = this.facts;
    for (const table of ROWS) {
      for (const { _id, n, state, ends } of tables.all(table, "")) {
        const jobs = this.jobsOf(table, _id);
        const isDeleted = jobs.length === 0 && asked.some(({ what }) => what === "handle");
        if (state === "busy" && !isDeleted) broken(`row ${n} of ${table} has no job, and is busy`);
        if (ends !== (this.ends.get(_id) ?? 0))
          broken(`row ${n} of ${table} has ${ends} results, of ${this.ends.get(_id) ?? 0} ends`);
      }
    }
    for (const { queue, more } of tables.all("announced"))
      if (more === true) broken(`rows of ${queue as string} are announced, and none waits`);
  }

  private jobsOf(table: string, row: string): Row[] {
    return this.facts.tables
      .all("jobs")
      .filter(({ queue, payload }) => queue === table && payload.inline === row);
  }

  private checkJob({ id, before, after }: Change): void {
    const { tables, broken, happened, nameOf } = this.facts;
    if (after === null) return;
    const [table, key] = [after["queue"] as string, after["payload"].inline as string];
    const row = tables.get(table, key, "");
    if (before === null && row === undefined) broken(`${nameOf(id)} is of a row that is gone`);
    const active = this.jobsOf(table, key).filter((job) => !hasEnded(job));
    if (active.length > 1) broken(`${nameOf(id)} is of a row that has another`);
    if (before === null && this.jobsOf(table, key).length > 1) happened("a row has another job");
    const isBegun = (after["attempt"] as number) > ((before?.["attempt"] ?? 0) as number);
    if (isBegun && statusOf(after) === "running") {
      if (row === undefined) broken(`${nameOf(id)} is given out, and its row is gone`);
      else if (row["state"] !== "busy")
        broken(`${nameOf(id)} runs, and its row is ${row["state"]}`);
      else if (row["stop"] === true) broken(`${nameOf(id)} is given out, and is to end`);
    }
    if (!hasEnded(after) || hasEnded(before)) return;
    if (row === undefined && statusOf(after) === "canceled")
      happened("a row that is gone ends its job");
    if (row?.["stop"] === true && statusOf(after) === "canceled")
      happened("a row is canceled by itself");
  }

  /** Its end is written with the evidence of `onComplete`, which is in the transaction of the end or comes later, alone. */
  private checkRow(commit: Commit, { id, before, after }: Change, table: string): void {
    const { broken, happened, tables, asked } = this.facts;
    if (after === null) return;
    const name = `row ${after["n"] as number} of ${table}`;
    const told = insertedIn(commit, "told").filter(
      ({ job }) => tables.get("jobs", job as string)?.["payload"].inline === id,
    );
    const results = (after["ends"] as number) - ((before?.["ends"] ?? 0) as number);
    if (results !== told.length) broken(`${name} has ${results} results of ${told.length} ends`);
    this.ends.set(id, (this.ends.get(id) ?? 0) + told.length);
    const [was, is] = [before?.["state"] as string | undefined, after["state"] as string];
    if (was === is || before === null) return;
    if (is === "new") return;
    if (is === "busy") {
      // The end of a job that was canceled as it was claimed is told alone, soon after.
      const owed = tables.all("callbacks").map(({ job }) => job as string);
      const isHeld = this.jobsOf(table, id).some((job) => !hasEnded(job) || owed.includes(job._id));
      if (!isHeld) broken(`${name} is busy, and has no job`);
      return;
    }
    const [end] = told;
    if (end === undefined) return void broken(`${name} is ${is}, and no job of it has ended`);
    if (is !== STATES[end["status"] as string])
      broken(`${name} is ${is}, and its job ${end["status"] as string}`);
    happened((end["attempt"] as number) > 1 ? "a row ends by another attempt" : "a row has ended");
    const job = end["job"] as string;
    if (tables.get("jobs", job) === undefined && !isDeletionAsked(asked, job, table))
      broken(`${name} has the end of a job that is not there`);
  }
}
