/**
 * Whether claims become dearer as a queue gets a past and a future: the reads of one claim and the dead index entries
 * it passes, at the start, and with finished jobs, jobs that are due later, and the traces of as many claims behind it.
 * Counted in virtual time.
 */
import { JANITOR_PERIOD_MS } from "../../src/shared/index.js";
import { squared } from "./session.js";
import { startVirtualApp, type VirtualApp } from "./virtualApp.js";

/** Of one call of `complete` that claims one job. */
export interface ClaimCost {
  /** On average. */
  documentsRead: number;
  /** At most: a newcomer passes them with its first claim, if it does. */
  tombstones: number;
}

export interface History {
  /** By a worker that was there all the time, and knows how far it has scanned. */
  known: ClaimCost;
  /** By one that has just come, and begins where the janitor says. */
  newcomer: ClaimCost;
}

const CALL_MAX = 64;
const ENQUEUE_MAX = 1_000;
const SAMPLES = 16;
/** Between two jobs that fall due: a hundred thousand of them are spread over a month. */
const EVERY_MS = 26_000;

interface Lease {
  id: string;
  attempt: number;
}

/**
 * `calls` are the calls of the known worker in between and in the second sample: each moves the row of its session in
 * its index.
 */
export async function claimsOverHistory(options: {
  finished: number;
  future: number;
}): Promise<{ before: History; after: History; calls: number }> {
  const app = await startVirtualApp({ seed: 1, jitter: 0 });
  const { world } = app;
  try {
    const worker = new CursorWorker(app, "known");
    await enqueue(app, 1);
    await worker.workOff(1);
    const before = await sample(app, worker, "early");
    const callsBefore = worker.calls;
    for (let left = options.future; left > 0; left -= ENQUEUE_MAX) {
      const count = Math.min(left, ENQUEUE_MAX);
      await world.call("races:enqueueFuture", { count, everyMs: EVERY_MS });
    }
    for (let left = options.finished; left > 0; left -= ENQUEUE_MAX) {
      const count = Math.min(left, ENQUEUE_MAX);
      await enqueue(app, count);
      await worker.workOff(count);
    }
    const after = await sample(app, worker, "late");
    return { before, after, calls: worker.calls - callsBefore };
  } finally {
    await world.close();
  }
}

/**
 * Of a claim that finds nothing, with a busy worker in the queue that has called so often, once per second: leases are
 * of 2 s.
 */
export async function emptyClaim(callsBefore: number): Promise<ClaimCost> {
  const app = await startVirtualApp({ seed: 1, jitter: 0 });
  const { world } = app;
  try {
    const busy = new CursorWorker(app, "busy", "sums");
    const other = new CursorWorker(app, "other", "sums");
    const payloads = Array.from({ length: callsBefore }, (_, n) => ({ n, workMs: 0 }));
    await world.call("sums:enqueue", { queue: "sums", payloads });
    let held = await busy.claimed();
    for (let calls = 1; calls < callsBefore; calls += 1) {
      await world.advance(1_000);
      held = await busy.next(held, 1);
    }
    world.stats.reset();
    await other.next([], 1);
    const { io, tombstones } = world.stats.snapshot().functions["work:claim"]!;
    return { documentsRead: io.documentsRead, tombstones };
  } finally {
    await world.close();
  }
}

async function enqueue({ world }: VirtualApp, count: number): Promise<void> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n }));
  await world.call("races:enqueue", { queue: "races", payloads });
}

async function sample(app: VirtualApp, known: CursorWorker, name: string): Promise<History> {
  const costOfKnown = await costOfClaims(app, known);
  // While anything is leased, the janitor publishes where to begin.
  await enqueue(app, 1);
  const held = await known.claimed();
  await app.world.advance(JANITOR_PERIOD_MS + 1_000);
  await known.next(held, 0);
  return {
    known: costOfKnown,
    newcomer: await costOfClaims(app, new CursorWorker(app, name)),
  };
}

async function costOfClaims(app: VirtualApp, worker: CursorWorker): Promise<ClaimCost> {
  await enqueue(app, SAMPLES);
  const cost = { documentsRead: 0, tombstones: 0 };
  let held: Lease[] = [];
  for (let i = 0; i < SAMPLES;) {
    app.world.stats.reset();
    held = await worker.next(held, 1);
    if (held.length === 0) continue;
    i += 1;
    const { functions } = app.world.stats.snapshot();
    const { io, tombstones } = functions["work:complete"] ?? functions["work:claim"]!;
    cost.documentsRead += io.documentsRead / SAMPLES;
    cost.tombstones = Math.max(cost.tombstones, tombstones);
  }
  await worker.next(held, 0);
  return cost;
}

/** A worker session that hands the cursor of one claim to the next, as workers do. */
class CursorWorker {
  calls = 0;
  #cursor: string | undefined;
  readonly #session;

  constructor(
    private readonly app: VirtualApp,
    private readonly name: string,
    private readonly queue: "races" | "sums" = "races",
  ) {
    this.#session = { token: app.token, sessionKey: name };
  }

  /** Reports the held jobs, and claims. */
  async next(held: Lease[], max: number): Promise<Lease[]> {
    const { world } = this.app;
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    const claim = { queues: [this.queue], max, ...cursor };
    const call = { ...this.#session, callSeq: ++this.calls };
    const finished = held.map(({ id, attempt }) => ({ id, attempt, outcome: squared(1) }));
    const reply =
      held.length === 0
        ? await world.call("work:claim", { ...call, name: this.name, ...claim })
        : await world.call("work:complete", { ...call, finished, ...(max > 0 ? { claim } : {}) });
    this.#cursor = reply.cursor ?? this.#cursor;
    return reply.jobs;
  }

  async claimed(): Promise<Lease[]> {
    for (;;) {
      const held = await this.next([], 1);
      if (held.length > 0) return held;
    }
  }

  async workOff(count: number): Promise<void> {
    let held: Lease[] = [];
    for (let done = 0; done < count; done += held.length) held = await this.next(held, CALL_MAX);
    await this.next(held, 0);
  }
}
