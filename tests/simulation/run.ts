/**
 * Plays one plan: a phase in which all that is planned happens, faults among it, and everything that must hold at every
 * moment is checked; then the faults stop, and all must come to an end within a bound; then, for a while, nothing may
 * happen any more; and days later nothing may be left.
 */
import type { SandboxPool } from "../../local/functions/sandboxPool.js";
import { CHECKERS } from "./checkers/all.js";
import type { Built } from "./deployment.js";
import { comeToRest, outlastRetention } from "./liveness.js";
import type { Part } from "./part.js";
import { PARTS } from "./parts.js";
import type { Plan } from "./plan.js";
import { Simulation, type Violation } from "./simulation.js";
import { Trace } from "./trace.js";

export interface Played {
  plan: Plan;
  violations: readonly Violation[];
  /** By part or checker and event: how often. */
  marks: ReadonlyMap<string, number>;
  commits: number;
  simulatedMs: number;
  jobs: number;
  digest: string;
  /** Empty unless they were asked for. */
  lines: readonly string[];
}

export interface PlayOptions {
  built: Built;
  sandboxes: SandboxPool;
  /** Keeps the lines of the trace. */
  traces?: boolean;
}

export async function play(plan: Plan, options: PlayOptions): Promise<Played> {
  const trace: Trace = new Trace(() => simulation.now(), options.traces === true);
  const simulation: Simulation = new Simulation(plan, { ...options, checkers: CHECKERS, trace });
  try {
    await simulation.start();
    await safety(simulation);
    await comeToRest(simulation);
    if (simulation.violations.length === 0) simulation.ended();
    await outlastRetention(simulation);
    if (simulation.violations.length === 0) simulation.gone();
    return {
      plan,
      violations: simulation.violations,
      marks: simulation.marks,
      commits: trace.commits,
      simulatedMs: simulation.now(),
      jobs: simulation.jobs.length,
      digest: trace.digest(),
      lines: trace.lines.map((line) => simulation.named(line)),
    };
  } finally {
    await simulation.close();
  }
}

async function safety(simulation: Simulation): Promise<void> {
  const { plan } = simulation;
  for (const event of plan.events) {
    await simulation.goTo(event.at);
    if (simulation.violations.length > 0) return;
    simulation.performs(event);
    const [part, what] = event.do.split(".") as [string, string];
    await partNamed(part).perform[what]!(simulation, event);
  }
  await simulation.goTo(plan.faultsMs);
  for (const part of PARTS) {
    if (plan.parts.includes(part.name)) await part.heal?.(simulation);
  }
  await simulation.settle();
}

const byName = new Map(PARTS.map((part) => [part.name, part]));

function partNamed(name: string): Part {
  const part = byName.get(name);
  if (part === undefined) throw new Error(`There is no part "${name}".`);
  return part;
}
