/** Fleets of workers that say that they may stand by; small ones have no duty. */
import { describe, expect, test, vi } from "vitest";
import {
  DUTY_BEAT_MS,
  DUTY_SILENT_MS,
  RANKED_SESSIONS_MAX,
  type Duty,
  type OfferedRows,
  type OnCallRequest,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, succeeded, type World } from "../setup.test.js";

export const PEERS = "alike";

/** A worker that says with its calls that it may stand by. */
export class Member {
  n = 0;
  since = 0;
  kind: Duty["kind"] | undefined;
  jobs: { id: string; attempt: number }[] = [];

  constructor(
    readonly world: World,
    readonly name: string,
    readonly peers = PEERS,
  ) {}

  private get caller() {
    return { token: this.world.token, sessionKey: `session-${this.name}` };
  }

  async claims(
    max = 1,
    onCall: Partial<OnCallRequest> = {},
    rows?: Omit<OfferedRows, "queue">,
  ): Promise<Duty | undefined> {
    this.n += 1;
    const offered = rows && { rows: [{ queue: this.world.queue.name, ...rows }] };
    const { jobs, duty } = await this.world.t.mutation(api.lib.claim, {
      ...{ ...this.caller, callSeq: this.n, name: this.name, queues: [this.world.queue], max },
      // Of any shard: the tests are not of shards.
      ...{ woken: true, onCall: { peers: this.peers, ...onCall }, ...offered },
    });
    this.jobs.push(...jobs);
    return this.heard(duty);
  }

  async completes(): Promise<void> {
    this.n += 1;
    const finished = this.jobs.map(({ id, attempt }) => succeeded({ id, attempt }));
    this.jobs = [];
    await this.world.t.mutation(api.lib.complete, { ...this.caller, callSeq: this.n, finished });
  }

  async beats(onCall: Partial<OnCallRequest> = {}): Promise<Duty | undefined> {
    const leases = this.jobs.map(({ id, attempt }) => ({ id, attempt }));
    const args = { ...this.caller, leases, onCall: { peers: this.peers, room: 1, ...onCall } };
    return this.heard((await this.world.t.mutation(api.lib.heartbeat, args)).duty);
  }

  async leaves(): Promise<void> {
    const args = { ...this.caller, leases: [], callSeq: (this.n += 1) };
    await this.world.t.mutation(api.lib.leave, args);
  }

  async isCalled(): Promise<boolean> {
    const { peers, since, name: worker, world } = this;
    return await world.t.query(api.lib.standby, { token: world.token, peers, since, worker });
  }

  private heard(duty: Duty | undefined): Duty | undefined {
    this.kind = duty?.kind;
    this.since = duty?.since ?? this.since;
    return duty;
  }
}

export const called = async (members: readonly Member[]) => {
  const waiting = members.filter(({ kind }) => kind === "standby" || kind === "watch");
  const are = await Promise.all(waiting.map((member) => member.isCalled()));
  return waiting.filter((_, i) => are[i]).map(({ name }) => name);
};

/** How many of these places have been called up, whether or not their workers have come. */
export const reached = async (members: readonly Member[]) =>
  (await Promise.all(members.map((member) => member.isCalled()))).filter(Boolean).length;

/** A fleet whose workers have found their duty: two on call, one that watches, and the rest. */
export async function newFleet(size = 12, shards = 1) {
  const world = await newWorld({ shards, leaseMs: 60_000 });
  const members = Array.from({ length: size }, (_, i) => new Member(world, `m${10 + i}`));
  // At instants of their own, so that their places differ.
  for (const member of [...members, ...members]) {
    vi.setSystemTime(Date.now() + 1);
    await member.claims();
  }
  for (const member of members.filter(({ kind }) => kind === "onCall")) {
    vi.setSystemTime(Date.now() + 1);
    await member.beats();
  }
  const on = members.filter(({ kind }) => kind === "onCall");
  const [watcher] = members.filter(({ kind }) => kind === "watch");
  const standby = members
    .filter(({ kind }) => kind === "standby")
    .sort((a, b) => a.since - b.since);
  return { world, members, on, watcher: watcher!, standby };
}

/** All of it is older than its first beat: a worker on standby at its place says so from now on as seldom as it may. */
export async function grown({ on, watcher }: Awaited<ReturnType<typeof newFleet>>) {
  for (let i = 0; i < 2; i += 1) {
    vi.setSystemTime(Date.now() + DUTY_BEAT_MS);
    for (const one of on) await one.beats();
    await watcher.claims();
  }
}

/** The first beats of standby, and the ones of its first places. */
export function expectSoon({ kind, nextMs }: Duty = { kind: "off" }) {
  expect(kind).toBe("standby");
  expect(nextMs).toBeGreaterThanOrEqual(DUTY_SILENT_MS);
  expect(nextMs).toBeLessThanOrEqual(2 * DUTY_SILENT_MS);
}

describe("a small fleet", () => {
  test("is asked for no duty, and leaves no row", async () => {
    const world = await newWorld();
    const members = Array.from(
      { length: RANKED_SESSIONS_MAX },
      (_, i) => new Member(world, `${i}`),
    );
    for (const member of members) expect(await member.claims()).toBeUndefined();
    for (const member of members) expect(await member.claims()).toBeUndefined();
    expect((await world.all("sessions")).every(({ peers }) => peers === undefined)).toBe(true);
    expect(await world.all("callUps")).toEqual([]);
  });

  test("of workers alike in a large one is on call as a whole", async () => {
    const world = await newWorld();
    const others = Array.from({ length: 9 }, (_, i) => new Member(world, `o${i}`, `other-${i}`));
    for (const other of others) await other.claims();
    for (const other of others) expect(await other.claims()).toMatchObject({ kind: "onCall" });
    expect(await others[0]!.beats()).toEqual({ kind: "onCall", size: 1, rank: 0 });
  });
});
