/** By which edges of the state machine a job can have come from one row to the next: one as a rule, more in one commit. */
import { EDGES, type Edge, type Status } from "../../../src/shared/index.js";
import type { Row } from "../part.js";

/** A session that is lost, another that takes the job, and a change by an operator, in one commit. */
const EDGES_MAX = 3;

const COUNTED = ["attempt", "failures", "resets", "releases", "rounds"] as const;
type Count = (typeof COUNTED)[number];

interface At extends Record<Count, number> {
  status: Status;
  paused: boolean;
}

export const countOf = (row: Row, field: Count): number => (row[field] as number | undefined) ?? 0;

/** The shortest way, or `null` if there is none. */
export function wayBetween(before: Row, after: Row): Edge[] | null {
  const to = atOf(after);
  let ways: { at: At; edges: Edge[] }[] = [{ at: atOf(before), edges: [] }];
  for (let length = 1; length <= EDGES_MAX; length += 1) {
    ways = ways.flatMap(({ at, edges }) =>
      nextOf(at).map((next) => ({ at: next.at, edges: [...edges, next.edge] })),
    );
    const found = ways.find(({ at }) => isSame(at, to));
    if (found !== undefined) return found.edges;
  }
  return null;
}

/** The same for a job that has just come into being. */
export function wayOfNew(after: Row): Edge[] | null {
  const isDueLater = (status: Status) => ({ ...after, status, attempt: 0 });
  for (const status of ["pending", "scheduled"] as const) {
    const begun = isDueLater(status);
    if (isSame(atOf(begun), atOf(after))) return [];
  }
  // Of jobs enqueued together with one key each may replace the one before.
  return wayBetween(isDueLater("pending"), after);
}

export function describeRow(row: Row): string {
  const counts = COUNTED.map((field) => `${field} ${countOf(row, field)}`);
  return `${row["status"] as string} (${counts.join(", ")})`;
}

function atOf(row: Row): At {
  const counts = COUNTED.map((field) => [field, countOf(row, field)] as const);
  const { status } = row as unknown as { status: Status };
  return {
    ...(Object.fromEntries(counts) as Record<Count, number>),
    status,
    paused: status === "pending" && row["paused"] === true,
  };
}

function isSame(a: At, b: At): boolean {
  return (
    a.status === b.status &&
    a.paused === b.paused &&
    COUNTED.every((field) => a[field] === b[field])
  );
}

function nextOf(at: At): { edge: Edge; at: At }[] {
  return (Object.keys(EDGES) as Edge[])
    .filter((edge) => (EDGES[edge].from as readonly Status[]).includes(at.status))
    .flatMap((edge) => countsAfter(edge, at).map((next) => ({ edge, at: next })))
    .filter(({ edge, at: { paused } }) => edge !== "claim" || (!at.paused && !paused));
}

/** The counts after an edge, with the ones that it resets. */
function countsAfter(edge: Edge, at: At): At[] {
  const { to, counts }: { to: Status; counts?: Count } = EDGES[edge];
  const next: At = { ...at, status: to, paused: false };
  if (counts !== undefined) next[counts] += 1;
  // A job that becomes pending while it is marked as paused is parked at once.
  const parked = to === "pending" && edge !== "resume" ? [{ ...next, paused: true }] : [];
  switch (edge) {
    case "pause":
      return at.paused ? [] : [{ ...next, paused: true }];
    case "resume":
      return at.paused ? [next] : [];
    case "retry": {
      const anew = { failures: 0, resets: 0, releases: 0 };
      return [next, ...parked].map((one) => ({ ...one, ...anew }));
    }
    case "comeRound":
    case "rest":
      // A round that succeeded forgets the failures before it.
      return [next, ...parked].flatMap((one) => [
        { ...one, resets: 0, failures: 0 },
        { ...one, resets: 0, failures: at.failures + 1 },
      ]);
    case "timeOut":
      return [next, { ...next, failures: at.failures + 1 }];
    default:
      return [next, ...parked];
  }
}
