/** Fleets of idle workers in virtual time, and what their waiting costs. */
import path from "node:path";
import { jobCalls } from "../../src/shared/index.js";
import type { Program } from "../../local/virtual/program.js";
import { api } from "../support/app/convex/_generated/api.js";
import { root } from "../support/paths.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";

const FLEET = path.join(root, "tests/virtual/onCallFleet.ts");
/** Workers in one process. One process for few, so that some may be killed. */
const TOGETHER = 50;

export interface Fleet {
  app: VirtualApp;
  programs: Program[];
  /** All calls that are billed, by function, since the last count. */
  count: () => Record<string, number>;
  /** The programs whose worker, the only one, has this duty. */
  with: (duty: string) => Program[];
  /** Enqueues so many jobs at once, and says how long after the answer each began. */
  waits: (jobs: number, options?: { workMs?: number; withinMs?: number }) => Promise<number[]>;
}

export interface FleetOptions {
  size: number;
  isPlain?: boolean;
  seed?: number;
  concurrency?: number;
  together?: number;
}

/** A fleet that has been idle for a while. */
export async function startFleet({
  size,
  isPlain = false,
  seed = 1,
  concurrency = 1,
  together = TOGETHER,
}: FleetOptions): Promise<Fleet> {
  const app = await startVirtualApp({ seed, class: size > 64 ? "s256" : "s16" });
  const { world, token } = app;
  const programs: Program[] = [];
  for (let begun = 0; begun < size; begun += together) {
    programs.push(
      await world.program(FLEET, {
        name: `fleet-${begun}`,
        env: {
          CONVEX_URL: world.url,
          CONVEYOR_TOKEN: token,
          FLEET_NAME: `w${begun}`,
          FLEET_SIZE: String(Math.min(together, size - begun)),
          FLEET_PLAIN: isPlain ? "1" : "0",
          WORKER_CONCURRENCY: String(concurrency),
        },
      }),
    );
    await world.advance(1_000);
  }
  await world.advance(120_000);
  let next = 0;
  return {
    ...{ app, programs },
    count: () => {
      const { functions } = world.stats.snapshot();
      world.stats.reset();
      const billed = Object.entries(functions).map(([name, one]) => [name, one.billed] as const);
      return Object.fromEntries(billed.filter(([, calls]) => calls > 0));
    },
    with: (duty) =>
      programs.filter(({ lines }) => {
        const said = lines.filter((line) => line.includes('"duty"')).at(-1) ?? "";
        return said.includes(`"${duty}"`);
      }),
    waits: async (jobs, { workMs = 50, withinMs = 60_000 } = {}) => {
      const [from, lines] = [next, programs.map((program) => program.lines.length)];
      next += jobs;
      const payloads = Array.from({ length: jobs }, (_, i) => ({ n: from + i, workMs }));
      await world.run(
        world.httpClient().mutation(...jobCalls(api.sums).enqueueMany("sums", payloads)),
      );
      const enqueuedAt = world.now();
      const began = new Map<number, number>();
      while (began.size < jobs && world.now() - enqueuedAt < withinMs) {
        await world.advance(10);
        for (const [i, program] of programs.entries()) {
          for (; lines[i]! < program.lines.length; lines[i]! += 1) {
            const { n } = JSON.parse(program.lines[lines[i]!]!) as { n?: number };
            if (n !== undefined && n >= from && !began.has(n))
              began.set(n, world.now() - enqueuedAt);
          }
        }
      }
      return [...began.values()].sort((a, b) => a - b);
    },
  };
}
