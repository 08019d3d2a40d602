/**
 * Fleets on call: worlds of their own, in which 9 to 40 workers alike serve one queue. Workers on call, the one that watches and
 * workers on standby are killed, stand still, resign and come again, one and several at once, while jobs come singly and in bursts.
 */
import type { QueueOverrides } from "../../../src/shared/index.js";
import type { Program } from "../../../local/virtual/program.js";
import { CREW, onDuty, type Watch } from "../crew.js";
import { Draw } from "../draw.js";
import { untilStopped } from "../faults/workers.js";
import { kept } from "../moments.js";
import type { Part } from "../part.js";
import type { Plan, Planned, WorkerSpec } from "../plan.js";
import type { Simulation } from "../simulation.js";

const SHARE = 0.01;
const FIRST_N = 14_000;
const PREFERRING_N = 15_000;
const QUEUE = "pulled";
/** Large enough to have workers on call: see "Fleets on call". */
const SIZES = [9, 9, 10, 12, 12, 16, 40] as const;
/** Until a fleet that starts knows its size, and its duties are shared out. */
const SETTLES_MS = 8_000;
/** Larger ones have a short phase: their workers cost most. */
const LARGE = 16;
export const SHORT_MS = 30_000;
/** In so long a phase the lost come not again: they are forgotten. */
const LONG_MS = 160_000;
/** Parts that may be on beside it: no other fault touches its workers, or keeps news from them. */
export const BESIDE_CREW = ["fleet on call", "producers", "cancels", "retries", "preferring"];

export const hasCrew = ({ parts }: Pick<Plan, "parts">): boolean => parts.includes(onCall.name);

/** Queues and workers of such a world; `null` in a world without a fleet. */
export function drawCrew(seed: number): Pick<Plan, "queues" | "workers" | "faultsMs"> | null {
  if (!new Draw(seed, "fleets on call").chance(SHARE)) return null;
  const draw = new Draw(seed, "crew");
  const concurrency = draw.pick([1, 1, 2]);
  const overrides: QueueOverrides = {
    leaseMs: draw.pick([3_000, 8_000]),
    maxResets: 3,
    shards: draw.pick([1, 4, 8]),
  };
  const count = draw.pick(SIZES);
  const workers = Array.from({ length: count }, (_, i): WorkerSpec => ({
    ...{ name: `${CREW} ${i + 1}`, queues: [QUEUE], concurrency, labels: ["gpu", "eu"] },
  }));
  return {
    queues: { [QUEUE]: overrides },
    workers,
    faultsMs: count > LARGE ? SHORT_MS : draw.pick([SHORT_MS, 60_000, 60_000, LONG_MS]),
  };
}

const LOST = [
  ...["one on call", "one on call", "all on call", "all on call", "the watch"],
  ...["all on call and the watch", "some on standby", "the first on standby", "half", "all"],
] as const;
type Lost = (typeof LOST)[number];
const HOW = ["kill", "kill", "kill", "pause", "terminate"] as const;

export const onCall: Part = {
  name: "fleet on call",
  about: "workers alike, of which a few are on call, die, stand still and resign by their duties",
  chance: 1,
  fits: ({ workers }) => workers.some(({ name }) => name.startsWith(CREW)),
  plan(draw, { faultsMs, workers }) {
    let n = FIRST_N;
    const jobs = (count: number) =>
      Array.from({ length: count }, () => ({
        payload: { n: ++n, turns: [{ ms: draw.pick([0, 30, 200, 1_500]), end: "returns" }] },
        options: {},
      }));
    const enqueue = (at: number, count: number): Planned => {
      return { at, do: "fleet on call.enqueue", jobs: jobs(count) };
    };
    const until = faultsMs * 0.9;
    const isLong = faultsMs === LONG_MS;
    const losses = Array.from({ length: draw.pick([1, 2, 3, 4]) }, (_, i): Planned[] => {
      const isEarly = isLong && i === 0;
      const at = draw.between(SETTLES_MS, isEarly ? 1.5 * SETTLES_MS : until);
      const over = at + draw.pick([300, 5_000, 20_000, 45_000]);
      const few = draw.chance(0.75);
      return [
        {
          at,
          do: "fleet on call.lose",
          of: draw.pick(LOST),
          how: draw.pick(HOW),
          which: draw.next(),
        },
        ...(draw.chance(0.8)
          ? [enqueue(at + draw.pick([1, 100, 2_000, 15_000]), few ? 1 : workers.length)]
          : []),
        ...(over < faultsMs && !isLong ? [{ at: over, do: "fleet on call.return" }] : []),
      ];
    }).flat();
    const others = Array.from({ length: draw.pick([1, 2, 3]) }, () =>
      enqueue(draw.between(0, until), draw.pick([1, 1, 2, 5, 30])),
    );
    const preferring = Array.from({ length: draw.pick([0, 1, 2]) }, (_, i): Planned => {
      const worker = draw.chance(0.7) ? draw.pick(workers).name : "none that is there";
      const prefer = { worker, forMs: draw.pick([1_000, 3_000]) };
      const payload = { n: PREFERRING_N + i, turns: [{ ms: 30, end: "returns" }] };
      const at = draw.between(SETTLES_MS, until);
      return { at, do: "fleet on call.enqueue", jobs: [{ payload, options: { prefer } }] };
    });
    return [...losses, ...others, ...preferring].filter(({ at }) => at < faultsMs);
  },
  perform: {
    enqueue(simulation, { jobs }) {
      simulation.ask("enqueueBatch", { queue: QUEUE, jobs });
      simulation.happened((jobs as []).length > 1 ? "enqueues a burst" : "enqueues a job alone");
    },
    lose(simulation, { of, how, which }) {
      const meant = lostOf(onDuty(simulation, isThere(simulation)), of as Lost, which as number);
      for (const name of meant) {
        const program = simulation.programs.get(name)!;
        if (how === "kill") program.kill();
        else if (how === "pause") program.pause();
        else program.signal("SIGTERM");
        if (how === "terminate") resigned(simulation).add(program);
        simulation.given.trace.add(name, how as string);
        simulation.stood(name, false);
      }
      if (meant.length === 0) return;
      simulation.happened(`loses ${of as string}`);
      simulation.happened(`loses some: ${how as string}`);
    },
    return: comeAgain,
  },
  async heal(simulation) {
    await comeAgain(simulation);
    await untilStopped(simulation, resigned(simulation));
  },
  marks: [
    ...["enqueues a burst", "enqueues a job alone", "come again"],
    ...[...new Set(LOST)].map((of) => `loses ${of}`),
    ...[...new Set(HOW)].map((how) => `loses some: ${how}`),
  ],
};

const resigned = kept(() => new Set<Program>());

/** Whether a worker's program runs, and has not been told to stop. */
function isThere(simulation: Simulation): (worker: string) => boolean {
  return (worker) => {
    const program = simulation.programs.get(worker);
    return program?.state === "running" && !resigned(simulation).has(program);
  };
}

/** The names of the workers that are meant. */
function lostOf(duties: Watch, of: Lost, which: number): string[] {
  const { onCall: listeners, watching, standby } = duties;
  const all = [...listeners, ...watching, ...standby];
  switch (of) {
    case "one on call":
      return listeners.slice(Math.floor(which * listeners.length)).slice(0, 1);
    case "all on call":
      return listeners;
    case "the watch":
      return watching;
    case "all on call and the watch":
      return [...listeners, ...watching];
    case "some on standby":
      return standby.filter((_, i) => i % 3 === Math.floor(which * 3));
    case "the first on standby":
      return standby.slice(0, Math.ceil(which * 8));
    case "half":
      return all.filter((_, i) => i % 2 === Math.floor(which * 2));
    case "all":
      return all;
  }
}

async function comeAgain(simulation: Simulation): Promise<void> {
  for (const spec of simulation.plan.workers) {
    const program = simulation.programs.get(spec.name);
    if (program?.state === "paused") {
      program.resume();
      simulation.stood(spec.name, true);
    } else if (program?.state === "ended") await simulation.startWorker(spec);
    else continue;
    simulation.happened("come again");
  }
}
