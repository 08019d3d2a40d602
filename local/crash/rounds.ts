/**
 * Rounds of load, `kill -9` at a drawn moment, a restart, and the question whether all that was promised is there. The
 * clients are the official ones and live through all rounds.
 */
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { anyApi as api } from "convex/server";
import { WebSocket } from "ws";
import { chained, doubled, exactlyOnce, lost, torn, type Audit } from "./checks.js";
import { Load, pause, timestampOf, type Done } from "./load.js";
import { World, type Start } from "./world.js";

const MAX_LOAD_MS = 800;
/** Of the rounds in which the backend is killed again while it starts. */
const KILLED_TWICE = 0.15;
const MAX_START_MS = 1200;
/** The client tries again after up to 16 s; nothing here should take as long. */
const DEADLINE_MS = 40_000;

export interface CrashOptions {
  seed: number;
  rounds: number;
  start: Start;
}

export interface CrashReport {
  /** Violations, by round. Empty when all is well; the first round with any is the last. */
  violations: string[];
  acknowledged: number;
  unanswered: number;
  rounds: number;
}

export async function crashRounds({ seed, rounds, start }: CrashOptions): Promise<CrashReport> {
  const random = generator(seed);
  const world = await World.create(start);
  const socket = new ConvexClient(world.url, {
    webSocketConstructor: WebSocket as unknown as typeof globalThis.WebSocket,
    unsavedChangesWarning: false,
    logger: false,
  });
  const report: CrashReport = { violations: [], acknowledged: 0, unanswered: 0, rounds: 0 };
  const totals = { entries: 0, errors: 0 };
  try {
    for (let round = 0; round < rounds && report.violations.length === 0; round++) {
      const violations = await crash(world, socket, round, random, report, totals);
      report.violations = violations.map((what) => `round ${round} of seed ${seed}: ${what}`);
      report.rounds++;
    }
  } finally {
    await socket.close();
    await world.close();
  }
  return report;
}

async function crash(
  world: World,
  socket: ConvexClient,
  round: number,
  random: () => number,
  report: CrashReport,
  totals: { entries: number; errors: number },
): Promise<string[]> {
  let shown: string[] = [];
  const unsubscribe = socket.onUpdate(
    api["load"]!["keys"]!,
    { round },
    (keys: string[]) => (shown = keys),
  );
  const load = new Load(world.url, socket, round, random);
  await load.begun;
  await pause(random() * MAX_LOAD_MS);
  await world.kill();
  await load.stop();
  if (random() < KILLED_TWICE) {
    world.begin();
    await pause(random() * MAX_START_MS);
    await world.kill();
  }
  await world.restart();

  const http = new ConvexHttpClient(world.url, { logger: false });
  const audit = () => http.query(api["load"]!["audit"]!, { round }) as Promise<Audit>;
  const violations: string[] = [];
  const ts = await timestampOf(world.url);
  if (ts < load.latestTs) violations.push(`the time went back from ${load.latestTs} to ${ts}`);
  // The socket's client is back already, and more may be acknowledged while the rows are read.
  const acknowledged = [...load.acknowledged];
  violations.push(...lost(acknowledged, load.unknown, await audit()));
  if (violations.length > 0) return violations;

  const promised = await within("the socket's mutations are answered", () =>
    Promise.all(load.promised),
  );
  let scheduled = { open: 1, errors: [] as string[] };
  await until("scheduled functions have ended", async () => {
    scheduled = (await http.query(api["load"]!["scheduled"]!, {})) as typeof scheduled;
    return scheduled.open === 0;
  });
  const after = await audit();
  const done: Done[] = [...new Set([...load.acknowledged, ...load.unknown, ...promised])];
  violations.push(
    ...after.missing.map((what) => `${what} is not in that index`),
    ...lost([...load.acknowledged, ...promised], load.unknown, after),
    ...torn(done, after),
    ...doubled(after),
    ...exactlyOnce(done, after),
    ...chained(done, after, scheduled.errors.slice(0, scheduled.errors.length - totals.errors)),
  );
  totals.errors = scheduled.errors.length;
  // Each entry was counted once in the transaction that made it; a move has taken one away.
  const moves = after.entries.filter(({ kind }) => kind.startsWith("moved")).length;
  totals.entries += after.entries.length + moves;
  if (after.counted !== totals.entries) {
    violations.push(`${after.counted} entries were counted, and ${totals.entries} are there`);
  }
  const keys = after.entries.map(({ key }) => key).join();
  await until("the subscription shows the final state", () => shown.join() === keys);
  unsubscribe();
  report.acknowledged += load.acknowledged.length;
  report.unanswered += load.unknown.length;
  return violations;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await within(what, async () => {
    while (!(await holds())) await pause(20);
  });
}

async function within<T>(what: string, run: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`It takes longer than ${DEADLINE_MS} ms until ${what}.`);
    timer = setTimeout(() => reject(error), DEADLINE_MS);
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Mulberry32 (Tommy Ettinger, public domain). */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
