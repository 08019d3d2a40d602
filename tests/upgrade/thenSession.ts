/** A worker session that remembers its process's state: its counter, its leases, its last call and the answer. */
import type { World } from "../../local/virtual/world.js";
import type { KnownSession } from "./fixture.js";

interface Lease {
  id: string;
  attempt: number;
}

/** A job in another's shard may be taken only after it has waited. */
const CLAIM_TRIES = 20;
const CLAIM_PAUSE_MS = 100;

export class ThenSession {
  callSeq = 0;
  leases: Lease[] = [];
  last: KnownSession["last"] = { path: "", args: {}, reply: null };

  constructor(
    private readonly world: World,
    readonly who: Pick<KnownSession, "sessionKey" | "token" | "queue">,
  ) {}

  get known(): KnownSession {
    const { callSeq, leases, last } = this;
    return structuredClone({ ...this.who, callSeq, leases, last });
  }

  async claim(max: number): Promise<Lease[]> {
    const { sessionKey, token, queue } = this.who;
    const reply = await this.#call("work:claim", {
      ...{ token, sessionKey, name: sessionKey, callSeq: ++this.callSeq },
      ...{ queues: [queue], max },
    });
    const leases = reply.jobs.map(({ id, attempt }: Lease) => ({ id, attempt }));
    this.leases.push(...leases);
    return leases;
  }

  /** Exactly so many. */
  async claimed(count: number): Promise<Lease[]> {
    const leases: Lease[] = [];
    for (let i = 0; i < CLAIM_TRIES && leases.length < count; i++) {
      if (i > 0) await this.world.advance(CLAIM_PAUSE_MS);
      leases.push(...(await this.claim(count - leases.length)));
    }
    if (leases.length < count) throw new Error(`${this.who.sessionKey} got ${leases.length} jobs.`);
    return leases;
  }

  succeed(leases: Lease[], result: unknown, options: { deferCallbacks?: boolean } = {}) {
    return this.#complete(leases, { kind: "succeeded", result }, options);
  }

  fail(leases: Lease[]) {
    return this.#complete(leases, { kind: "failed", error: "It broke." });
  }

  release(leases: Lease[]) {
    return this.#complete(leases, { kind: "released" });
  }

  beat(leases: Lease[]): Promise<any> {
    return this.world.call("work:heartbeat", { ...this.#identity, leases });
  }

  progress(leases: Lease[], value: unknown): Promise<any> {
    const updates = leases.map((lease) => ({ ...lease, value }));
    return this.world.call("work:report", { ...this.#identity, updates });
  }

  get #identity() {
    const { token, sessionKey } = this.who;
    return { token, sessionKey };
  }

  async #complete(leases: Lease[], outcome: object, options: object = {}): Promise<any> {
    const finished = leases.map((lease) => ({ ...lease, outcome }));
    const reported = new Set(leases.map(({ id }) => id));
    const args = { ...this.#identity, callSeq: ++this.callSeq, finished, ...options };
    const calling = this.#call("work:complete", args);
    this.leases = this.leases.filter(({ id }) => !reported.has(id));
    return await calling;
  }

  async #call(path: string, args: object): Promise<any> {
    const reply = await this.world.call(path, args);
    this.last = { path, args, reply };
    return reply;
  }
}
