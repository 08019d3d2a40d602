/**
 * Random commits, query sets and mutations against a session on a virtual clock. After any events in any order, all
 * that a client is shown is one snapshot's state, and time never goes back. A mutation's response comes before its
 * effect. In the end the client sees the latest values. Sessions that are broken on purpose show that this would be
 * noticed.
 */
import { describe, expect, test } from "vitest";
import type { JSONValue } from "convex/values";
import type { Ts } from "../../engine/types.js";
import { ANYONE } from "../../functions/identity.js";
import { createVirtualClock } from "../../virtual/clock.js";
import { randomStream } from "../../virtual/random.js";
import type { Call, Calls } from "../calls.js";
import { decodeTs } from "../timestamps.js";
import { CommitFeed, type FeedReader } from "./commitFeed.js";
import type { AddQuery, PlainMessage, RemoveQuery, Transition } from "./messages.js";
import { MutationLedger } from "./mutationLedger.js";
import { Session } from "./session.js";
import { FakeBackend } from "./testing.js";

type Fault = "a commit during an update is missed" | "queries read the latest snapshot";

const ROWS = ["a", "b", "c", "d"];
const STEPS = 60;

test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  "a client converges to the latest values through consistent snapshots (seed %i)",
  (seed) => play(seed),
);

describe("this test notices when", () => {
  test.each<Fault>(["a commit during an update is missed", "queries read the latest snapshot"])(
    "%s",
    async (fault) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, seed) => play(seed, fault)),
      );
      expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
    },
  );
});

async function play(seed: number, fault?: Fault): Promise<void> {
  const clock = createVirtualClock({ seed });
  const random = randomStream(seed, "play");
  const below = (bound: number) => Math.floor(random.next() * bound);
  const backend = new FakeBackend();
  const client = new Watcher(backend);
  let updating = 0;
  const failures: unknown[] = [];
  backend.duringRun = () => clock.sleep(below(4));
  const feed = new CommitFeed(backend, clock);
  const session = new Session({
    env: clock,
    database: backend,
    feed: fault?.startsWith("a commit") ? deafWhile(feed, () => updating > 0) : feed,
    ledger: new MutationLedger(),
    authenticator: { user: async () => ANYONE, admin: () => ANYONE },
    calls: {
      query: async (call: Call) => {
        updating++;
        const { at: _, ...latest } = call;
        const asked = fault?.startsWith("queries") ? latest : call;
        // Late, as a query that waits for a permit is.
        if (fault?.startsWith("queries")) await clock.sleep(below(3));
        return backend.query(asked).finally(() => updating--);
      },
      mutation: async ({ args }: Call) => {
        await clock.sleep(below(5));
        const ts = backend.write(args as Record<string, JSONValue>);
        return { ok: true, value: null, logs: [], ts };
      },
    } as unknown as Calls,
    connection: {
      send: (message) => client.hear(message),
      async sendTransition(transition) {
        client.see(transition);
        await clock.sleep(below(3));
      },
      refuse: (error) => void failures.push(error),
    },
  });
  await clock.run(async () => {
    session.receive(JSON.stringify({ type: "Connect", sessionId: "s", connectionCount: 0 }));
    for (let step = 0; step < STEPS; step++) {
      const kind = below(8);
      if (kind < 4) backend.write(rows(step));
      else if (kind < 6) session.receive(client.change(below(6), ROWS[below(ROWS.length)]!));
      else session.receive(client.mutation(rows(step)));
      await clock.sleep(below(6));
    }
  });
  await clock.untilIdle();
  session.close();
  feed.close();
  if (failures.length > 0) throw failures[0];
  client.expectLatest();

  /** Some rows at once: no client may see one of them without the rest. */
  function rows(step: number): Record<string, JSONValue> {
    const count = 1 + below(ROWS.length);
    return Object.fromEntries(
      ROWS.slice(0, count).map((row) => [row, below(3) === 0 ? "same" : step]),
    );
  }
}

/** A feed that tells its readers nothing while they run queries: the wakeup that was once lost. */
function deafWhile(feed: CommitFeed, isUpdating: () => boolean): CommitFeed {
  return {
    subscribe: (reader: FeedReader) =>
      feed.subscribe({
        follow: (commit) => (isUpdating() ? 0 : reader.follow(commit)),
        wake: () => reader.wake(),
      }),
  } as CommitFeed;
}

/** The client: its queries, the results that it was shown, and whether these may be. */
class Watcher {
  readonly #watched = new Map<number, string>();
  readonly #shown = new Map<number, JSONValue>();
  readonly #pending = new Set<number>();
  readonly #responses = new Map<number, Ts>();
  #querySet = 0;
  #requests = 0;
  #ts: Ts = 0n;

  constructor(private readonly backend: FakeBackend) {}

  /** Watches a row under that number, or ceases to. */
  change(queryId: number, row: string): string {
    const change: AddQuery | RemoveQuery = this.#watched.has(queryId)
      ? { type: "Remove", queryId }
      : { type: "Add", queryId, udfPath: row, args: [{}] };
    if (change.type === "Remove") this.#watched.delete(queryId);
    else this.#watched.set(queryId, row);
    const baseVersion = this.#querySet++;
    const message = { type: "ModifyQuerySet", baseVersion, newVersion: this.#querySet };
    return JSON.stringify({ ...message, modifications: [change] });
  }

  mutation(rows: Record<string, JSONValue>): string {
    const requestId = this.#requests++;
    this.#pending.add(requestId);
    return JSON.stringify({ type: "Mutation", requestId, udfPath: "write", args: [rows] });
  }

  hear(message: PlainMessage): void {
    if (message.type !== "MutationResponse" || !message.success) return;
    const ts = decodeTs(message.ts);
    expect(ts, "a response that comes after its effect was shown").toBeGreaterThan(this.#ts);
    this.#pending.delete(message.requestId);
    this.#responses.set(message.requestId, ts);
  }

  see({ startVersion, endVersion, modifications }: Transition): void {
    expect(decodeTs(startVersion.ts)).toBe(this.#ts);
    const ts = decodeTs(endVersion.ts);
    expect(ts).toBeGreaterThanOrEqual(this.#ts);
    this.#ts = ts;
    for (const modification of modifications) {
      if (modification.type === "QueryUpdated") {
        this.#shown.set(modification.queryId, modification.value);
      } else this.#shown.delete(modification.queryId);
    }
    // A query set that has changed since may watch other rows under the same numbers.
    if (endVersion.querySet === this.#querySet) this.#expectSnapshot(ts);
  }

  expectLatest(): void {
    expect(this.#pending).toEqual(new Set());
    expect(this.#ts).toBeGreaterThanOrEqual([...this.#responses.values()].at(-1) ?? 0n);
    this.#expectSnapshot(this.backend.latestTs);
  }

  #expectSnapshot(ts: Ts): void {
    const held = [...this.#watched].map(([id, row]) => [id, this.backend.valueAt(row, ts)]);
    expect(Object.fromEntries(this.#shown)).toEqual(Object.fromEntries(held));
  }
}
