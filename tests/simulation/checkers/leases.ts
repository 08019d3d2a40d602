import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed, changedJobs } from "./jobs.js";

interface Lease {
  id: string;
  attempt: number;
}

export const leases: Checker = {
  name: "leases",
  promise:
    "a job is running if and only if it stands in the leases of one holder, which is its own, with its attempt; a holder that has leases is active, and a lane that has some is awake",
  marks: ["a job is leased", "a lease ends", "a holder is lost", "a deleted job is still leased"],
  watch({ tables, broken, happened, nameOf }) {
    /** By job, the holders that have it in their leases. */
    const held = new Map<string, Map<string, number>>();
    const heldBy = (job: string) => {
      const known = held.get(job) ?? new Map<string, number>();
      held.set(job, known);
      return known;
    };
    return {
      commit(commit) {
        const touched = new Set(changedJobs(commit).map(({ id }) => id));
        for (const { id, before, after } of changed(commit, "holders")) {
          const [was, is] = [leasesOf(before), leasesOf(after)];
          for (const lease of was) {
            if (heldBy(lease.id).get(id) === lease.attempt) heldBy(lease.id).delete(id);
            touched.add(lease.id);
          }
          for (const lease of is) {
            if (heldBy(lease.id).has(id)) broken(`${nameOf(lease.id)} is leased twice by one`);
            heldBy(lease.id).set(id, lease.attempt);
            touched.add(lease.id);
          }
          if (after !== null) checkHolder(after, is);
          if (was.length > is.length) happened("a lease ends");
          if (after?.["state"] === "gone" && was.length > 0) happened("a holder is lost");
        }
        for (const id of touched) checkJob(id);
      },
    };

    function checkHolder(holder: Row, own: readonly Lease[]): void {
      const name = holder["name"] as string;
      if (own.length === 0) return;
      if (holder["state"] !== "active") broken(`${name} holds leases, and is ${holder["state"]}`);
      const lane = holder["lane"] as string | undefined;
      if (lane === undefined) return;
      if (tables.get("lanes", lane) === undefined) broken(`${name} holds leases, its lane is gone`);
    }

    function checkJob(id: string): void {
      const job = tables.get("jobs", id);
      const holders = heldBy(id);
      if (job === undefined) {
        if (holders.size > 0) happened("a deleted job is still leased");
        return;
      }
      const { status, holder, attempt } = job;
      if (status !== "running") {
        if (holders.size > 0) broken(`${nameOf(id)} is ${status as string}, and leased`);
        return;
      }
      const isOwn = holders.size === 1 && holders.get(holder as string) === attempt;
      if (isOwn) happened("a job is leased");
      else broken(`${nameOf(id)} is running, and ${holders.size} hold it: none or not its own`);
    }
  },
};

const leasesOf = (holder: Row | null): Lease[] => (holder?.["leases"] ?? []) as Lease[];
