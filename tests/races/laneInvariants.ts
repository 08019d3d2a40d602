/**
 * Invariants of lanes and of the processes in which they run after any commit: the caps of a queue's lanes, the lane that scans,
 * and the slots and places of the mount.
 */
import { limitsOf, placesLeft } from "../../src/shared/index.js";
import type { Session, Job, Read, Scheduled } from "./invariants.js";
import { must } from "./world.js";

interface LaneRow {
  _id: string;
  queue: string;
  session: string;
  cap: number;
}
interface QueueRow {
  name: string;
  config: { maxParallelism?: number };
  overrides?: { maxParallelism?: number };
}
interface ProcessRow {
  _id: string;
  number: number;
  state: string;
  scheduledId?: string;
}
interface HandOver {
  process: string;
  start: { lane: string };
}

export async function checkLanes(
  read: Read,
  jobs: readonly Job[],
  sessions: readonly Session[],
): Promise<void> {
  const lanes = await read<LaneRow>("lanes");
  await checkCaps(read, lanes, jobs, sessions);
  await checkGates(read, lanes, sessions);
  await checkProcesses(read, lanes, sessions);
}

/** No more jobs are leased inside Convex than may be, whichever wake starts lanes. */
async function checkCaps(
  read: Read,
  lanes: readonly LaneRow[],
  jobs: readonly Job[],
  sessions: readonly Session[],
): Promise<void> {
  for (const { name, config, overrides } of await read<QueueRow>("queues")) {
    const own = lanes.filter(({ queue }) => queue === name);
    if (own.length === 0) continue;
    // Jobs that began before it was lowered go on.
    const max = Math.max(config.maxParallelism ?? 10, overrides?.maxParallelism ?? 0);
    const caps = own.reduce((sum, { cap }) => sum + cap, 0);
    must(caps <= max, "lanes may run more than maxParallelism");
    const running = jobs.filter(({ queue, status }) => queue === name && status === "running");
    must(running.length <= max, "more run than maxParallelism");
  }
  for (const { session, cap } of lanes) {
    const { state, leases } = sessions.find(({ _id }) => _id === session)!;
    must(leases.length <= cap, "a lane runs more than its cap");
    must(state === "active" || cap <= 1, "a lane sleeps, and keeps more room than a spare");
  }
}

/** The door is open while any lane's row says that it scans, and that lane is awake. */
async function checkGates(
  read: Read,
  lanes: readonly LaneRow[],
  sessions: readonly Session[],
): Promise<void> {
  const doors = await read<{ queue: string; open: boolean }>("doors");
  const gates = await read<{ queue: string; state: string; guard?: string }>("gates");
  for (const { queue, state, guard } of gates) {
    const isOpen = doors.some((door) => door.queue === queue && door.open);
    must(
      isOpen === (state !== "quiet"),
      `a ${state} gate, and the door is ${isOpen ? "" : "not "}open`,
    );
    if (guard === undefined) continue;
    const { session } = lanes.find(({ _id }) => _id === guard)!;
    const isAwake = sessions.find(({ _id }) => _id === session)!.state === "active";
    must(isAwake, "a lane guards, and sleeps");
  }
}

/** The class of all deployments here: the smallest. */
const LIMITS = limitsOf("s16");

/** A process's places are its own, and no lane runs in a process that has ended. */
async function checkProcesses(
  read: Read,
  lanes: readonly LaneRow[],
  sessions: readonly Session[],
): Promise<void> {
  const processes = await read<ProcessRow>("processes");
  const stateOf = (id: string) => processes.find(({ _id }) => _id === id)?.state;
  const numbers = new Set(processes.map(({ number }) => number));
  must(numbers.size === processes.length, "two slots have one number");
  must(processes.length <= LIMITS.slots, "there are more slots than the class has");
  const grants = await read<{ process: string; extra: number }>("grants");
  for (const { process, extra } of grants) {
    must(grants.filter((one) => one.process === process).length === 1, "it has places twice");
    must(extra >= 0, "it has given back more places than it had");
    must(stateOf(process) !== "free", "a process that has ended has places");
  }
  const taken = grants.reduce((sum, { extra }) => sum + extra, 0);
  must(taken <= placesLeft(LIMITS, []).few, "processes have more places than the class");
  const handOvers = await read<HandOver>("handOvers");
  for (const { process } of handOvers)
    must(stateOf(process) === "receiving", "a lane was handed to a process that does not receive");
  await checkRunsIn(read, { processes, handOvers, lanes, sessions });
}

interface Rows {
  processes: readonly ProcessRow[];
  handOvers: readonly HandOver[];
  lanes: readonly LaneRow[];
  sessions: readonly Session[];
}

/**
 * While the scheduled function of an awake lane is there, it is a process that has not ended, and receives its own lanes alone.
 */
async function checkRunsIn(
  read: Read,
  { processes, handOvers, lanes, sessions }: Rows,
): Promise<void> {
  const scheduled = await read<Scheduled>("_scheduled_functions");
  const isThere = (id: string | undefined) =>
    scheduled.some(
      ({ _id, target, state: { kind } }) =>
        _id === id &&
        target.path === "push/laneAction:laneProcess" &&
        (kind === "pending" || kind === "inProgress"),
    );
  const sessionOf = (lane: LaneRow) => sessions.find(({ _id }) => _id === lane.session)!;
  for (const lane of lanes) {
    const { state, runsIn } = sessionOf(lane);
    if (state !== "active" || !isThere(runsIn)) continue;
    const isProcess = processes.some((one) => one.state !== "free" && one.scheduledId === runsIn);
    must(isProcess, "a lane is awake, and its process has ended");
  }
  for (const { process, start } of handOvers) {
    const scheduledId = processes.find(({ _id }) => _id === process)?.scheduledId;
    const lane = lanes.find(({ _id }) => _id === start.lane);
    must(
      lane === undefined || !isThere(scheduledId) || sessionOf(lane).runsIn === scheduledId,
      "a lane was handed to a process in which it does not run",
    );
  }
}
