/**
 * A lane as far as the component sees it: the calls that its action makes. What it holds and has counted is read from its
 * rows, so that it can be gone on with from any point. And what must come of a queue that Convex itself works off, when its
 * lanes go on by themselves and nobody else comes.
 */
import { ACTION_LOST } from "../../local/functions/scheduledRuns.js";
import { markCompleted } from "../../local/functions/scheduledTable.js";
import type { Finished } from "../../src/shared/index.js";
import { COMPONENT } from "../races/deployment.js";
import { checkTables } from "../races/invariants.js";
import { must } from "../races/world.js";
import { mutation, type Line, type Row } from "./line.js";
import type { Call } from "./transactions.js";

interface Held {
  id: string;
  attempt: number;
}

export function lanesOf(line: Line): Row[] {
  return line.rows("lanes");
}

/** The latest lane that was started. */
export function awakeLane(line: Line): Row {
  const awake = lanesOf(line).filter(({ state }) => state === "awake");
  must(awake.length > 0, "no lane was started");
  return awake.at(-1)!;
}

export function guard(line: Line): Row {
  const [gate] = line.rows("gates");
  const lane = lanesOf(line).find(({ _id }) => _id === gate?.["guard"]);
  must(lane !== undefined, "no lane guards the queue");
  return lane!;
}

/** Its next call: so many of its jobs have ended, and it has looked so often in vain. */
export function steps(line: Line, lane: Row, { ends = Infinity, looks = 0 } = {}): Call {
  const holder = line.rows("holders").find(({ _id }) => _id === lane["holder"])!;
  const finished = (holder["leases"] as Held[]).slice(0, ends).map(({ id, attempt }): Finished => ({
    id,
    attempt,
    outcome: { kind: "succeeded", result: 1 },
  }));
  const { _id, generation } = lanesOf(line).find((row) => row._id === lane._id)!;
  const n = (holder["n"] as number) + 1;
  const said = { lane: _id, generation, n, heard: n - 1, finished, execute: [], looks };
  return mutation("laneStep:step", said);
}

/** Its machine is gone, and the platform says so. */
export async function loses(line: Line, lane: Row): Promise<void> {
  const transaction = line.point.begin();
  const scheduled = { namespace: COMPONENT, id: lane["scheduledId"] as string };
  const state = { kind: "failed" as const, error: ACTION_LOST };
  await markCompleted(transaction, scheduled, state, line.now);
  line.point = line.point.commit(transaction, "a machine is gone")!;
}

const ROUND_MS = 500;
/** Long before the watchdog takes anything for forgotten. */
const ROUNDS_MAX = 8;

/**
 * Lanes go on by themselves: everything is begun soon, also while these lanes are busy with what they have; then they end,
 * and all of them sleep and nobody is relied on.
 */
export async function checkLanesRest(line: Line, ...busy: Row[]): Promise<void> {
  const isBusy = ({ _id }: Row) => busy.some((lane) => lane._id === _id);
  if (busy.length > 0) await goOn(line, (lane) => !isBusy(lane));
  const waiting = line.rows("jobs").filter(({ status }) => status === "pending");
  must(busy.length === 0 || waiting.length === 0, "a job is pending, and nobody looks");
  await goOn(line, () => true);
  await checkTables(line.point.begin());
  const open = line.rows("jobs").filter(isOpen);
  must(open.length === 0, `a job is ${String(open[0]?.status)}, and nobody looks`);
  const awake = lanesOf(line).filter(({ state }) => state !== "asleep");
  must(awake.length === 0, "a lane does not go to sleep");
  must(
    line.rows("gates").every(({ state }) => state === "quiet"),
    "somebody is relied on who has gone",
  );
}

const isOpen = ({ status }: Row) => status === "pending" || status === "running";

async function goOn(line: Line, goes: (lane: Row) => boolean): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await line.pass(ROUND_MS);
    const awake = lanesOf(line).filter((lane) => lane.state !== "asleep" && goes(lane));
    for (const lane of awake) await line.do(steps(line, lane, { looks: round }));
    const isWoken = line.transactions.due(line.point).length > 0;
    const waits = line.rows("jobs").some(({ status }) => status === "pending");
    if (awake.length === 0 && !isWoken && !waits) return;
  }
}
