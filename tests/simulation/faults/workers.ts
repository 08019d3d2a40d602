/** Faults of programs outside: they crash, stand still, receive SIGTERM, and their clocks are wrong. */
import type { Program } from "../../../local/virtual/program.js";
import type { Draw } from "../draw.js";
import type { Part } from "../part.js";
import type { Plan, Planned } from "../plan.js";
import type { Simulation } from "../simulation.js";
import { atLease, kept } from "../moments.js";

const hasWorkers = (plan: Plan): boolean => plan.workers.length > 0;

const MORE_IN_LARGE = 5;

/** Some of them, each at a time, and that it is over so much later. */
function some(
  draw: Draw,
  plan: Plan,
  [begin, end]: [string, string],
  ms: readonly number[],
): Planned[] {
  const times = draw.pick([1, 1, 2, 3]) * (plan.jobs === undefined ? 1 : MORE_IN_LARGE);
  return Array.from({ length: times }, () => {
    const worker = draw.pick(plan.workers).name;
    const at = draw.between(0, plan.faultsMs);
    const over = at + draw.pick(ms);
    return [
      { at, do: begin, worker, holding: draw.pick([0, 1, 1, 2, 4]) },
      // A fault that would outlast the phase is ended by `heal`.
      ...(over < plan.faultsMs ? [{ at: over, do: end, worker }] : []),
    ];
  }).flat();
}

/** At once, or in the middle of its work. */
function whenHolding(
  simulation: Simulation,
  { worker, holding }: Planned,
  then: (program: Program) => void,
): void {
  atLease(simulation, worker as string, holding as number, () => {
    const program = simulation.programs.get(worker as string);
    if (program !== undefined) then(program);
  });
}

async function startAgain(simulation: Simulation, { worker }: Planned): Promise<void> {
  if (simulation.programs.get(worker as string)?.state !== "ended") return;
  const spec = simulation.plan.workers.find(({ name }) => name === worker);
  if (spec !== undefined) await simulation.startWorker(spec);
}

export const workerCrash: Part = {
  name: "worker crash",
  about: "a worker is killed, and started again",
  chance: 0.25,
  fits: hasWorkers,
  plan: (draw, plan) =>
    some(draw, plan, ["worker crash.kill", "worker crash.start"], [100, 1_000, 6_000]),
  perform: {
    kill(simulation, event) {
      whenHolding(simulation, event, (program) => {
        if (program.state === "ended") return;
        program.kill();
        const holds = simulation.tables
          .all("sessions")
          .some(({ name, leases }) => name === event.worker && leases.length > 0);
        simulation.happened(holds ? "kills one that holds jobs" : "kills one");
      });
    },
    start: startAgain,
  },
  marks: ["kills one that holds jobs", "kills one"],
};

const PAUSES: [string, string] = ["worker pause.stop", "worker pause.goOn"];
const FIRST_N = 6_000;
/** Longer than most leases. */
const LONG_MS = 10_000;
const SHORT = { ms: 0, end: "returns" };

/** In the middle of a long job, until so long before or after its leases may be ended. */
function untilExpiry(draw: Draw, plan: Plan): Planned[] {
  const { name: worker, queues } = draw.pick(plan.workers);
  const at = draw.between(0, plan.faultsMs * 0.4);
  const aroundExpiryMs = draw.between(-120, 40);
  return [
    { at, do: "worker pause.work", queue: draw.pick(queues), n: FIRST_N },
    { at, do: "worker pause.stop", worker, holding: draw.pick([1, 1, 2]), aroundExpiryMs },
  ];
}

function goesOnAroundExpiry(
  simulation: Simulation,
  { worker, aroundExpiryMs }: Planned,
  program: Program,
): void {
  const session = simulation.tables
    .all("sessions")
    .find(({ name, leases }) => name === worker && leases.length > 0);
  if (session === undefined) return;
  const ms = session["expiresAt"] + (aroundExpiryMs as number) - simulation.date();
  simulation.world.clock.timer(Math.max(0, ms), () => {
    if (program.state === "paused") program.resume();
  });
  simulation.happened("goes on when its leases end");
}

export const workerPause: Part = {
  name: "worker pause",
  about: "a worker stands still, for longer than its lease too, and goes on as if nothing had been",
  chance: 0.2,
  fits: hasWorkers,
  plan(draw, plan) {
    const pauses = some(draw, plan, PAUSES, [50, 1_000, 4_000, 10_000]);
    return draw.chance(0.5) ? pauses : [...pauses, ...untilExpiry(draw, plan)];
  },
  perform: {
    stop(simulation, event) {
      whenHolding(simulation, event, (program) => {
        if (program.state === "running") simulation.happened("stands still");
        program.pause();
        if (event["aroundExpiryMs"] !== undefined) goesOnAroundExpiry(simulation, event, program);
      });
    },
    work(simulation, { queue, n }) {
      const payload = { n, turns: [{ ms: LONG_MS, end: "returns" }, SHORT] };
      simulation.ask("enqueue", { queue, jobs: [{ payload, options: {} }] });
    },
    goOn(simulation, { worker }) {
      simulation.programs.get(worker)?.resume();
    },
  },
  marks: ["stands still", "goes on when its leases end"],
};

/** Programs that were signaled to stop: a new one under the same name is another. */
const stopping = kept(() => new Set<Program>());

/** More than the grace that a worker gives its jobs when it stops. */
const STOPPED_WITHIN_MS = 60_000;

export const workerStop: Part = {
  name: "worker stop",
  about: "a worker is signaled to stop, in the middle of its jobs, and started again",
  chance: 0.2,
  fits: hasWorkers,
  plan: (draw, plan) =>
    some(draw, plan, ["worker stop.terminate", "worker stop.start"], [1_000, 4_000, 8_000]),
  perform: {
    terminate(simulation, event) {
      whenHolding(simulation, event, (program) => {
        if (program.state !== "running") return;
        program.signal("SIGTERM");
        stopping(simulation).add(program);
        simulation.happened("is signaled to stop");
      });
    },
    start: startAgain,
  },
  /** It lets jobs come to their end for a while. A supervisor starts it again then, and not before. */
  heal: async (simulation) => await untilStopped(simulation, stopping(simulation)),
  marks: ["is signaled to stop"],
};

/** Until all that were told to stop have ended. */
export async function untilStopped(simulation: Simulation, told: Set<Program>): Promise<void> {
  const programs = [...told];
  for (const program of programs) program.resume();
  const haveEnded = () => programs.every(({ state }) => state === "ended");
  await simulation.world
    .until(haveEnded, { withinMs: STOPPED_WITHIN_MS, what: "all have stopped" })
    .catch(() => simulation.broken("a worker that was signaled to stop goes on"));
}

export const skew: Part = {
  name: "skew",
  about: "the clocks of workers are minutes off, and jump",
  chance: 0.2,
  fits: hasWorkers,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, () => ({
      at: draw.between(0, plan.faultsMs),
      do: "skew.set",
      worker: draw.pick(plan.workers).name,
      holding: draw.pick([0, 1, 1, 2, 4]),
      ms: draw.pick([-3_600_000, -120_000, -5_000, 5_000, 120_000, 3_600_000]),
    }));
  },
  perform: {
    set(simulation, event) {
      whenHolding(simulation, event, (program) => {
        if (program.state === "ended") return;
        program.skewMs = event.ms as number;
        simulation.happened(program.skewMs > 0 ? "is ahead" : "is behind");
      });
    },
  },
  marks: ["is ahead", "is behind"],
};
