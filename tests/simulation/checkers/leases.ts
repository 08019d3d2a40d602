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
    "a job is running if and only if it stands in the leases of one session, which is its own, with its attempt; or, where it has ended apart, in its lane's until that says so; a session that has leases is active, and a lane that has some is awake",
  marks: [
    ...["a job is leased", "a lease ends", "a session is lost", "a deleted job is still leased"],
    "a job has ended apart",
  ],
  watch({ tables, broken, happened, nameOf }) {
    /** By job, the sessions that have it in their leases, with the last attempt of each. */
    const held = new Map<string, Map<string, number>>();
    const heldBy = (job: string) => {
      const known = held.get(job) ?? new Map<string, number>();
      held.set(job, known);
      return known;
    };
    const isLanes = (session: string) => tables.get("sessions", session)?.["lane"] !== undefined;
    return {
      commit(commit) {
        const touched = new Set(changedJobs(commit).map(({ id }) => id));
        for (const { id, before, after } of changed(commit, "sessions")) {
          const [was, is] = [leasesOf(before), leasesOf(after)];
          for (const lease of was) {
            heldBy(lease.id).delete(id);
            touched.add(lease.id);
          }
          for (const lease of is) {
            const other = heldBy(lease.id).get(id);
            if (other !== undefined && (!isLanes(id) || other === lease.attempt))
              broken(`${nameOf(lease.id)} is leased twice by one`);
            heldBy(lease.id).set(id, Math.max(lease.attempt, other ?? 0));
            touched.add(lease.id);
          }
          if (after !== null) checkSession(after, is);
          if (was.length > is.length) happened("a lease ends");
          if (after?.["state"] === "gone" && was.length > 0) happened("a session is lost");
        }
        for (const id of touched) checkJob(id);
      },
    };

    function checkSession(session: Row, own: readonly Lease[]): void {
      const name = session["name"] as string;
      if (own.length === 0) return;
      if (session["state"] !== "active") broken(`${name} holds leases, and is ${session["state"]}`);
      const lane = session["lane"] as string | undefined;
      if (lane === undefined) return;
      if (tables.get("lanes", lane) === undefined) broken(`${name} holds leases, its lane is gone`);
    }

    function checkJob(id: string): void {
      const job = tables.get("jobs", id);
      if (job === undefined) {
        if (heldBy(id).size > 0) happened("a deleted job is still leased");
        return;
      }
      const { status, session, attempt } = job;
      const isOver = ([of, held]: [string, number]) =>
        isLanes(of) && (status !== "running" || held < attempt);
      const all = [...heldBy(id)];
      const sessions = new Map(all.filter((one) => !isOver(one)));
      if (sessions.size < all.length) happened("a job has ended apart");
      if (status !== "running") {
        if (sessions.size > 0) broken(`${nameOf(id)} is ${status as string}, and leased`);
        return;
      }
      const isOwn = sessions.size === 1 && sessions.get(session as string) === attempt;
      if (isOwn) happened("a job is leased");
      else broken(`${nameOf(id)} is running, and ${sessions.size} hold it: none or not its own`);
    }
  },
};

const leasesOf = (session: Row | null): Lease[] => (session?.["leases"] ?? []) as Lease[];
