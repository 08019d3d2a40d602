/** Plays whole lives, from an empty queue to rest; finds the smallest part of one that fails; counts the edges walked. */
import { expect as check, vi } from "vitest";
import fc from "fast-check";
import { onlyForgets } from "../support/forgetting.js";
import { newToldWorld, T0, type World } from "../../src/component/setup.test.js";
import { EDGES, type Edge } from "../../src/shared/index.js";
import type { Command, Life } from "./commands.js";
import { expect, untold } from "./follow.js";
import { isActive } from "./jobs.js";
import { Model } from "./model.js";
import { Pair } from "./perform.js";

export type Walked = Map<Edge, number>;

/** A command in fast-check's form: it is always allowed, and applies to the jobs and workers that exist. */
class Step implements fc.AsyncCommand<Model, Pair> {
  constructor(readonly command: Command) {}
  check(): boolean {
    return true;
  }
  async run(_model: Model, pair: Pair): Promise<void> {
    await pair.step(this.command);
  }
  toString(): string {
    return JSON.stringify(this.command);
  }
}

export async function playLife(life: Life, walked: Walked): Promise<void> {
  vi.useRealTimers();
  vi.useFakeTimers({ now: T0 });
  const random = vi.spyOn(Math, "random").mockImplementation(generator(life.seed));
  const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    const world = await newToldWorld(life.config);
    const pair = new Pair(world, new Model(world.queue.config, walked));
    const steps = life.commands.map((command) => new Step(command));
    await fc.asyncModelRun(() => ({ model: pair.model, real: pair }), steps);
    await expectRest(world, pair);
  } finally {
    random.mockRestore();
    silent.mockRestore();
  }
}

/** Everything has ended, every callback has run, and no row remains. */
async function expectRest(world: World, pair: Pair): Promise<void> {
  const seen = await pair.rest();
  const active = pair.model.there.filter(({ status }) => isActive(status));
  expect(active.length === 0, "everything comes to rest", active);
  expect(
    untold(pair.model, seen).length === 0,
    "every end has its callback",
    untold(pair.model, seen),
  );
  for (const table of ["cancels", "callbacks", "expiries"] as const) {
    const rows = await world.all(table);
    expect(rows.length === 0, `nothing is left in ${table}`, rows);
  }
  // Keys kept for a window go with the purge.
  const keys = seen.keys.filter(({ until }) => until === undefined);
  expect(keys.length === 0, "no key is left", keys);
  const held = seen.sessions.filter(({ leases }) => leases.length > 0);
  expect(held.length === 0, "no session has a lease", held);
  const timers = (await world.all("timers")).filter(
    (timer) => timer.kind !== "purge" && !onlyForgets(timer, seen.sessions, Date.now()),
  );
  expect(timers.length === 0, "no timer is left but the purge's", timers);
}

/** mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

// --- Many lives ------------------------------------------------------------------------------------

/** Taken before a test installs fake timers. */
const realNow = performance.now.bind(performance);

export interface Played {
  lives: number;
  steps: number;
  walked: Walked;
}

/** Plays random lives until there are enough, or the time is over; throws with the smallest part of one that fails. */
export async function playLives(
  lives: fc.Arbitrary<Life>,
  { seed, numRuns, withinMs = Infinity }: { seed: number; numRuns: number; withinMs?: number },
): Promise<Played> {
  const walked: Walked = new Map();
  const begun = realNow();
  const played: Played = { lives: 0, steps: 0, walked };
  for (; played.lives < numRuns && realNow() - begun < withinMs; played.lives += 1) {
    const own = seed + played.lives;
    const [life] = fc.sample(lives, { seed: own, numRuns: 1 }) as [Life];
    try {
      await playLife(life, walked);
    } catch (error) {
      const { config, seed: chance, commands } = await reduce(life, ruleOf(error));
      const steps = commands.map((command) => JSON.stringify(command)).join("\n  ");
      throw new Error(
        `After ${played.lives} lives one fails: MODEL_SEED=${own} plays it first. Smallest part found, with ` +
          `config ${JSON.stringify(config)}, chance ${chance}:\n  ${steps}`,
        { cause: error },
      );
    }
    played.steps += life.commands.length;
  }
  return played;
}

/** The broken rule, without its details. */
function ruleOf(error: unknown): string {
  return error instanceof Error ? error.message.split(":")[0]! : String(error);
}

/** Leaves out ever smaller stretches of steps, as long as the rest still fails by the same rule. */
async function reduce(life: Life, rule: string): Promise<Life> {
  let { commands } = life;
  const fails = async (some: Command[]) =>
    await playLife({ ...life, commands: some }, new Map()).then(
      () => false,
      (error: unknown) => ruleOf(error) === rule,
    );
  for (let size = commands.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < commands.length;) {
      const less = [...commands.slice(0, at), ...commands.slice(at + size)];
      if (await fails(less)) commands = less;
      else at += size;
    }
  }
  return { ...life, commands };
}

/** Each edge, and how often it was walked. */
export function tableOf({ lives, steps, walked }: Played): string {
  const rows = (Object.keys(EDGES) as Edge[]).map((edge) => {
    const { from, to } = EDGES[edge];
    return `${edge.padEnd(10)} ${from.join("|").padEnd(36)} -> ${to.padEnd(10)} ${walked.get(edge) ?? 0}`;
  });
  return `${lives} lives, ${steps} steps:\n${rows.join("\n")}`;
}

export function expectWalked({ walked }: Played, except: readonly Edge[]): void {
  const missed = (Object.keys(EDGES) as Edge[]).filter((edge) => !walked.has(edge));
  check(missed.filter((edge) => !except.includes(edge))).toEqual([]);
}
