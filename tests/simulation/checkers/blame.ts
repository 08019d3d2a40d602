import type { Change, Row } from "../observed.js";
import { COMPONENT } from "../deployment.js";
import type { Checker, Facts } from "../part.js";
import { isOf, type Kind } from "../plan.js";
import { isHeard, mayBeat } from "./heard.js";
import { isEven, sureMs } from "./slack.js";

/** Kinds with handlers that report their begin, over a link without faults. */
const TELL: readonly Kind[] = ["acted", "inlined", "wheel"];
/** The platform's message for a handler on a machine that was lost. */
export const ACTION_LOST = "The machine that ran this action is gone.";
/** How far a call's own time may lie before its commit, where nothing is wrong. */
const ON_ITS_WAY_MS = 1_500;

interface Lease {
  id: string;
  attempt: number;
  leaseMs?: number;
  graceMs?: number;
}

export const blame: Checker = {
  name: "blame",
  promise:
    "an attempt fails only by its handler, and is lost only when its worker was silent for as long as its lease, as none is that may be heard, or its lane has ended; a worker gives nothing up before that, and leaves nothing when it stops",
  marks: [
    "an attempt fails by its handler",
    "a worker is silent for as long as its lease",
    "a lane has ended with its jobs",
    "a worker's lease is over by its own clock",
    "a worker has ended, and holds nothing",
  ],
  watch(facts) {
    const { plan, tables, broken, happened, nameOf } = facts;
    const began = new Set<string>();
    /** When each attempt was claimed, by the time of rows. */
    const claimedAt = new Map<string, number>();
    const sessions = new Map<string, string>();
    /** Attempts that workers have reported as finished. */
    const finished = new Set<string>();
    return {
      ran({ job, attempt, what }) {
        if (what === "began") began.add(`${job}/${attempt}`);
      },
      commit(commit) {
        const changes = commit.changes.filter(({ namespace }) => namespace === COMPONENT);
        for (const { table, id, after } of changes) {
          if (table !== "jobs" || after?.["status"] !== "running") continue;
          const key = `${id}/${after["attempt"] as number}`;
          if (!claimedAt.has(key)) claimedAt.set(key, facts.date());
        }
        for (const { table, before, after } of changes) {
          if (table !== "attempts" || before !== null || after === null) continue;
          const { job, attempt, outcome } = after;
          const name = `attempt ${attempt as number} of ${nameOf(job as string)}`;
          if (outcome === "lost") {
            wasLost(facts, changes, after, name);
            const isFinished = finished.has(`${job as string}/${attempt as number}`);
            if (isFinished && mayBeat(plan)) broken(`${name} is lost, and its worker has done it`);
          }
          if (outcome !== "failed") continue;
          const queue = tables.get("jobs", job as string)?.["queue"] as string;
          // Its machine may be lost before its first line: whether it had begun cannot be known.
          if (!isOf(TELL, queue) || String(after["error"]).includes(ACTION_LOST)) continue;
          if (began.has(`${job as string}/${attempt as number}`)) {
            happened("an attempt fails by its handler");
          } else broken(`${name} has failed, and never began: ${String(after["error"])}`);
        }
      },
      printed(worker, line) {
        const said = line as { kind: string; reason?: string; sessionKey?: string } & Lease;
        if (said.kind === "started") sessions.set(worker, said.sessionKey!);
        if (said.kind === "finished") finished.add(`${said.id}/${said.attempt}`);
        if (said.kind === "leaseLost" && said.reason === "expired") {
          const at = claimedAt.get(`${said.id}/${said.attempt}`);
          const ms = facts.date() - (at ?? -Infinity);
          const leaseMs = leaseOf(facts, said) ?? 0;
          if (ms >= leaseMs - sureMs(plan, ON_ITS_WAY_MS)) {
            happened("a worker's lease is over by its own clock");
          } else if (isHeard(plan)) {
            broken(`${worker} gives up ${nameOf(said.id)} ${ms.toFixed()} ms after it was claimed`);
          }
        }
        if (said.kind === "ended" && isHeard(plan)) {
          const sessionKey = sessions.get(worker);
          const session = tables.all("sessions").find((row) => row["sessionKey"] === sessionKey);
          const held = leasesOf(session ?? null);
          const left = held.filter(({ id }) => tables.get("jobs", id) !== undefined);
          if (left.length === 0) happened("a worker has ended, and holds nothing");
          else broken(`${worker} has ended, and holds ${left.map(({ id }) => nameOf(id)).join()}`);
        }
      },
    };
  },
};

function wasLost(facts: Facts, changes: readonly Change[], attempt: Row, name: string): void {
  const { plan, tables, broken, happened } = facts;
  const id = attempt["session"] as string;
  const change = changes.find((one) => one.table === "sessions" && one.id === id);
  const session = change?.before ?? tables.get("sessions", id);
  if (session === undefined) return;
  if (session["lane"] === undefined) {
    const mays = leasesOf(session).map(({ leaseMs = 0, graceMs = 0 }) => leaseMs + graceMs);
    const silentMs = facts.date() - (session["lastSeenAt"] as number);
    if (silentMs < Math.min(...mays)) {
      broken(`${name} is given up, and its worker was heard of ${silentMs.toFixed()} ms before`);
    } else if (mayBeat(plan) && isEven(plan)) {
      broken(`${name} is lost, and nothing has kept its worker from being heard`);
    } else happened("a worker is silent for as long as its lease");
    return;
  }
  const scheduled = tables.get("_scheduled_functions", session["runsIn"] as string);
  const state = (scheduled?.["state"] as { kind: string } | undefined)?.kind;
  if (state === "pending" || state === "inProgress") {
    broken(`${name} is given up, and the function of its lane is ${state}`);
  } else if (state === "success") {
    broken(`${name} is lost, and its lane has come to its end`);
  } else happened("a lane has ended with its jobs");
}

/** As the session's row has it, of an attempt that it holds. */
function leaseOf({ tables }: Facts, { id, attempt }: Lease): number | undefined {
  const held = tables.all("sessions").flatMap(leasesOf);
  return held.find((lease) => lease.id === id && lease.attempt === attempt)?.leaseMs;
}

const leasesOf = (session: Row | null): Lease[] => (session?.["leases"] ?? []) as Lease[];
