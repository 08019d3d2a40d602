/** One seed from its number to its report, in a process that keeps the state that seeds share. */
import type { Bug } from "../planted/change.js";
import { keepSandboxes } from "../../local/virtual/keptSandboxes.js";
import { cutPlan, type Cut } from "./cuts.js";
import { build, type Built } from "./deployment.js";
import { drawPlan } from "./draws.js";
import { play } from "./run.js";
import type { Violation } from "./simulation.js";

export interface SeedOptions {
  cuts?: readonly Cut[];
  /** Keeps the lines of the trace. Defaults to false. */
  traces?: boolean;
}

/** Plain data: it goes from process to process. */
export interface SeedReport {
  seed: number;
  parts: string[];
  queues: string[];
  violations: Violation[];
  marks: [string, number][];
  commits: number;
  jobs: number;
  simulatedMs: number;
  digest: string;
  lines: string[];
}

export class Seeds {
  readonly #sandboxes = keepSandboxes();

  private constructor(private readonly built: Built) {}

  /** With bugs that are planted. */
  static async build(bugs: readonly Bug[] = []): Promise<Seeds> {
    return new Seeds(await build(bugs));
  }

  async play(seed: number, { cuts = [], traces = false }: SeedOptions = {}): Promise<SeedReport> {
    const plan = cutPlan(drawPlan(seed), cuts);
    const { built } = this;
    const played = await play(plan, { built, sandboxes: this.#sandboxes, traces });
    return {
      seed,
      parts: plan.parts,
      queues: Object.keys(plan.queues),
      violations: [...played.violations],
      marks: [...played.marks],
      commits: played.commits,
      jobs: played.jobs,
      simulatedMs: played.simulatedMs,
      digest: played.digest,
      lines: [...played.lines],
    };
  }
}
