import { LEASES_MAX } from "../../../src/shared/index.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { attemptKey, changed, changedJobs, claimedBy, configOf } from "./jobs.js";

/** A line that a worker prints of a job. */
interface WorkerLine {
  kind: string;
  id?: string;
  attempt?: number;
  jobs?: { id: string; attempt: number }[];
}

/** A job's last lines. A job canceled before it had begun is only recorded. */
const OVER = ["finished", "resultDropped", "leaseLost", "handlerAbandoned", "recorded"];

export const parallelism: Checker = {
  name: "parallelism",
  promise:
    "never more jobs of a queue run inside Convex than maxParallelism, and never more in a lane than its cap; caps add up to it at most, and are given back; a worker works on as many as it has room for, and only on such as it may have",
  marks: [
    "as many run as may",
    "a lane begins",
    "a lane ends",
    "the limit is below the running jobs",
    "a worker is full",
    "a gate is guarded",
    "a gate is full",
    "a gate is leaving",
  ],
  watch({ plan, tables, broken, happened, nameOf }) {
    /** By worker, its current jobs. */
    const working = new Map<string, Set<string>>();
    const before = new Map<string, { caps: number; runs: number }>();
    return {
      commit(commit) {
        const queues = new Set<string>();
        for (const { before: was, after } of changed(commit, "sessions")) {
          const row = (after ?? was)!;
          if (row["lane"] === undefined) continue;
          queues.add(row["queues"][0] as string);
          if (!isAwake(was) && isAwake(after)) happened("a lane begins");
          if (isAwake(was) && !isAwake(after)) happened("a lane ends");
        }
        for (const { before: was, after } of changed(commit, "lanes")) {
          queues.add((after ?? was)!["queue"] as string);
        }
        for (const { after } of changed(commit, "gates")) {
          if (after !== null && after["state"] !== "quiet") happened(`a gate is ${after["state"]}`);
        }
        for (const queue of queues) checkQueue(queue);
        for (const { queue } of [...changed(commit, "gates"), ...changed(commit, "doors")].map(
          (change) => (change.after ?? change.before)!,
        )) {
          checkGate(queue as string);
        }
        for (const change of changedJobs(commit)) {
          if (claimedBy(change) !== null && change.after !== null) checkClaim(change.after);
        }
      },
      printed: (worker, line) => heard(worker, line as WorkerLine),
      end() {
        for (const lane of tables.all("lanes")) {
          const { state } = tables.get("sessions", lane["session"] as string) ?? { state: "gone" };
          if (state !== "active" && lane["cap"] <= 1) continue;
          broken(`a lane of ${lane["queue"]} is ${state} at the end, cap ${lane["cap"]}`);
        }
        for (const { queue, state } of tables.all("gates")) {
          if (state !== "quiet") broken(`the gate of ${queue} is ${state} at the end`);
        }
        for (const { queue, open } of tables.all("doors")) {
          if (open === true) broken(`the door of ${queue} is open at the end`);
        }
      },
    };

    /** A limit may have been lowered below the number of running jobs: then no more start. */
    function checkQueue(queue: string): void {
      const lanes = tables.all("lanes").filter((lane) => lane["queue"] === queue);
      const max = configOf(tables, queue)["maxParallelism"] as number;
      let [caps, runs] = [0, 0];
      for (const { cap, session } of lanes) {
        const held = leasesOf(tables.get("sessions", session as string));
        if (held.length > cap) broken(`a lane of ${queue} holds ${held.length}, its cap is ${cap}`);
        caps += cap as number;
        runs += held.filter(({ id }) => tables.get("jobs", id)?.["status"] === "running").length;
      }
      const was = before.get(queue) ?? { caps: 0, runs: 0 };
      if (runs > max && runs > was.runs) broken(`${runs} of ${queue} run in Convex, ${max} may`);
      if (caps > max && caps > was.caps)
        broken(`lanes of ${queue} may run ${caps}, and not ${max}`);
      if (runs === max && max > 0) happened("as many run as may");
      if (runs > max) happened("the limit is below the running jobs");
      before.set(queue, { caps, runs });
    }

    /** The door's row is open while the gate's state is not quiet, and the lane that scans is awake. */
    function checkGate(queue: string): void {
      const gate = tables.all("gates").find((one) => one["queue"] === queue);
      const isOpen = tables.all("doors").some((one) => one["queue"] === queue && one["open"]);
      const state = (gate?.["state"] ?? "quiet") as string;
      if (isOpen !== (state !== "quiet")) {
        broken(`the gate of ${queue} is ${state}, and its door ${isOpen ? "open" : "shut"}`);
      }
      const guard = gate?.["guard"] as string | undefined;
      const lane = guard === undefined ? undefined : tables.get("lanes", guard);
      if (guard !== undefined && !isAwake(tables.get("sessions", lane?.["session"] as string))) {
        broken(`a lane guards ${queue}, and is not awake`);
      }
    }

    /** The jobs that a worker has printed as taken, and not yet as over. */
    function heard(worker: string, line: WorkerLine): void {
      const spec = plan.workers.find(({ name }) => name === worker);
      const { kind, id, attempt, jobs = [] } = line;
      const busy = working.get(worker) ?? new Set<string>();
      working.set(worker, busy);
      if (kind === "started") busy.clear();
      if (OVER.includes(kind)) busy.delete(attemptKey(id!, attempt!));
      for (const job of jobs) busy.add(attemptKey(job.id, job.attempt));
      if (spec === undefined || kind !== "claimed") return;
      // Of batches it runs so many, and gathers more jobs: as many as it may hold.
      const isOfBatches = spec.batch !== undefined && plan.parts.includes("batches");
      const room = isOfBatches ? LEASES_MAX : spec.concurrency;
      if (busy.size === room) happened("a worker is full");
      if (busy.size > room)
        broken(`${worker} works on ${busy.size} jobs, and has room for ${room}`);
    }

    function checkClaim(job: Row): void {
      const session = tables.get("sessions", job["session"] as string);
      const labels = (job["labels"] ?? []) as string[];
      const spec = plan.workers.find(({ name }) => name === session?.["name"]);
      const has = session?.["lane"] === undefined ? (spec?.labels ?? labels) : [];
      const lacks = labels.filter((label) => !has.includes(label));
      const cost = (job["cost"] ?? 1) as number;
      if (session?.["lane"] === undefined && cost > (spec?.maxCost ?? Infinity)) {
        broken(`${nameOf(job._id)} costs ${cost}, which is more than ${spec!.name} has`);
      }
      if (lacks.length > 0)
        broken(`${nameOf(job._id)} needs ${lacks.join()}, its session has none`);
    }
  },
};

const isAwake = (session: Row | null | undefined): boolean => session?.["state"] === "active";
const leasesOf = (session: Row | undefined): { id: string }[] => session?.["leases"] ?? [];
