/** @see ../../../src/shared/status.ts */
import { EDGES, type Edge, type Status } from "../../../src/shared/index.js";
import { COMPONENT } from "../deployment.js";
import type { Checker, Row } from "../part.js";

const COUNTS = ["attempt", "failures", "resets", "releases", "rounds"] as const;

export const stateMachine: Checker = {
  name: "state machine",
  promise:
    "a job's status changes only along an edge of the state machine, which counts what it says that it counts, and every change makes it newer",
  marks: Object.keys(EDGES).filter((edge) => edge !== "postpone"),
  watch: ({ broken, happened, nameOf }) => ({
    commit({ changes }) {
      for (const { namespace, table, id, before, after } of changes) {
        if (namespace !== COMPONENT || table !== "jobs" || after === null) continue;
        if (before === null) {
          // Its own caller may have canceled it, or put another in its place, in the same transaction.
          const isNew =
            after["attempt"] === 0 &&
            ["pending", "scheduled", "canceled"].includes(after["status"] as string);
          if (!isNew) broken(`${nameOf(id)} came into being as ${after["status"] as string}`);
          continue;
        }
        if (before["seq"] === after["seq"]) {
          // No edge: somebody asks it to end, or marks it as paused.
          if (before["status"] !== after["status"] || before["order"] !== after["order"]) {
            broken(`${nameOf(id)} has moved and is no newer`);
          }
          continue;
        }
        if (!((after["seq"] as bigint) > (before["seq"] as bigint))) {
          broken(`${nameOf(id)} has become older`);
        }
        const edges = edgesBetween(before, after);
        const taken = edges.length > 0 ? edges.slice(0, 1) : takenOver(before, after);
        if (taken.length === 0) broken(`${nameOf(id)} went ${said(before)} → ${said(after)}`);
        for (const edge of taken) happened(edge);
      }
    },
  }),
};

/** Those that leave the one for the other and count what has been counted. */
function edgesBetween(before: Row, after: Row): Edge[] {
  return (Object.keys(EDGES) as Edge[]).filter((name) => {
    const edge: { from: readonly Status[]; to: Status; counts?: string } = EDGES[name];
    if (!edge.from.includes(before["status"] as Status) || edge.to !== after["status"])
      return false;
    const isPause = after["paused"] === true && before["paused"] !== true;
    if (name === "pause" && !isPause) return false;
    if (name === "resume" && (after["paused"] === true || before["paused"] !== true)) return false;
    return COUNTS.every((field) => {
      const [was, is] = [count(before, field), count(after, field)];
      if (edge.counts === field) return is === was + 1 || (name === "fail" && is === was);
      if (is === was) return true;
      // These begin anew; the fencing token never does.
      const begins = ["retry", "comeRound", "rest"].includes(name) && field !== "attempt";
      const counted = field === "failures" && ["timeOut", "comeRound", "rest"].includes(name);
      return (begins && is === 0) || (counted && is === was + 1);
    });
  });
}

/** A claim may take what it finds lost, and a completion what it gives back: two edges in one commit. */
function takenOver(before: Row, after: Row): Edge[] {
  for (const [edge, field] of [
    ["reset", "resets"],
    ["release", "releases"],
  ] as const) {
    const between = { ...before, status: "pending", [field]: count(before, field) + 1 };
    if (edgesBetween(before, between).includes(edge)) {
      if (edgesBetween(between, after).includes("claim")) return [edge, "claim"];
    }
  }
  return [];
}

const count = (row: Row, field: string): number => (row[field] as number | undefined) ?? 0;

function said(row: Row): string {
  const counts = COUNTS.map((field) => `${field} ${count(row, field)}`);
  return `${row["status"] as string} (${counts.join(", ")})`;
}
