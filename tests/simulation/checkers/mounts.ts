import { isFinished, type Status } from "../../../src/shared/index.js";
import { COMPONENT } from "../deployment.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { hasSecond, SECOND, SECOND_END_N, SECOND_N } from "../workloads/secondMount.js";
import { changed, insertedIn, storedIn } from "./jobs.js";

export const mounts: Checker = {
  name: "mounts",
  promise:
    "of two mounts none touches rows of the other: a job is where it was enqueued, no transaction writes both, and each end has one callback",
  marks: ["a job of the second mount ends, with its callback"],
  watch({ plan, tables, broken, happened }) {
    if (!hasSecond(plan)) return {};
    const told = new Map<string, number>();
    const jobs = new Set<string>();
    return {
      commit(commit) {
        const of = new Set(commit.changes.map(({ namespace }) => namespace));
        if (of.has(COMPONENT) && of.has(SECOND)) {
          const written = commit.changes.map(({ namespace, table }) => `${namespace}.${table}`);
          broken(`one transaction writes both mounts: ${[...new Set(written)].join()}`);
        }
        for (const row of insertedIn(commit, "jobs", COMPONENT))
          if (isOfSecond(storedIn(tables, row["payload"])))
            broken("a job of the second mount is in the first");
        for (const row of insertedIn(commit, "jobs", SECOND)) {
          jobs.add(row._id);
          if (!isOfSecond(row["payload"]?.inline))
            broken("a job of the first mount is in the second");
        }
        for (const { job } of insertedIn(commit, "toldOfSecond")) {
          const count = (told.get(job as string) ?? 0) + 1;
          told.set(job as string, count);
          if (!jobs.has(job as string))
            broken("the callback of the second mount has a job of none");
          if (count > 1) broken("the end of a job of the second mount has two callbacks");
          else happened("a job of the second mount ends, with its callback");
        }
        for (const { before, after } of changed(commit, "jobs", SECOND))
          if (after === null && before !== null && !isOver(before))
            broken("a job of the second mount is gone before its end");
      },
      end() {
        for (const job of jobs)
          if (!told.has(job)) broken("a job of the second mount has had no callback at the end");
      },
    };
  },
};

const isOfSecond = (work: { n?: number } | undefined): boolean =>
  (work?.n ?? 0) > SECOND_N && (work?.n ?? 0) < SECOND_END_N;

const isOver = (row: Row): boolean => isFinished(row["status"] as Status);
