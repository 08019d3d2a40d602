/**
 * The calls of clients in one round, and their knowledge afterwards: acknowledged calls, and calls that may or may not have
 * committed because the answer never came.
 */
import { ConvexHttpClient, type ConvexClient } from "convex/browser";
import { anyApi as api } from "convex/server";

const HTTP_CLIENTS = 5;
/** Mutations that the socket's client sends before it waits. */
const SOCKET_BATCH = 4;
const MAX_DELAY_MS = 80;
/** Calls that are acknowledged before the backend may be killed. */
const WARM = 8;

export interface Done {
  key: string;
  kind: "write" | "schedule" | "chain" | "move";
  /** The key of the entry that it deleted. */
  from?: string;
}

export class Load {
  readonly acknowledged: Done[] = [];
  /** Sent over HTTP and never answered. */
  readonly unknown: Done[] = [];
  /** Sent over the socket: the client sends them again until they are answered. */
  readonly promised: Promise<Done>[] = [];
  /** The latest timestamp that the backend has shown to any client. */
  latestTs = 0n;
  #stopped = false;
  readonly #loops: Promise<unknown>;
  #warm!: () => void;
  /** Resolves when a few calls were acknowledged: the load is on. */
  readonly begun = new Promise<void>((resolve) => (this.#warm = resolve));

  constructor(
    private readonly url: string,
    private readonly socket: ConvexClient,
    private readonly round: number,
    private readonly random: () => number,
  ) {
    const clients = Array.from({ length: HTTP_CLIENTS }, (_, i) => this.#callOverHttp(`h${i}`));
    this.#loops = Promise.all([...clients, this.#callOverSocket(), this.#watchTimestamps()]);
  }

  /** Sends nothing more. Resolves when no call over HTTP is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loops;
  }

  async #callOverHttp(name: string): Promise<void> {
    const client = new ConvexHttpClient(this.url, { logger: false });
    const movable: string[] = [];
    for (let n = 0; !this.#stopped; n++) {
      const done = this.#draw(`${this.round}-${name}-${n}`, movable);
      try {
        await this.#call(client, done);
        this.#acknowledge(done);
        if (done.kind === "write") movable.push(done.key);
      } catch {
        this.unknown.push(done);
        await pause(5);
      }
    }
  }

  #draw(key: string, movable: string[]): Done {
    const drawn = this.random();
    if (drawn < 0.25) return { key, kind: "schedule" };
    if (drawn < 0.3) return { key, kind: "chain" };
    const from = drawn < 0.45 ? movable.pop() : undefined;
    return from === undefined ? { key, kind: "write" } : { key, kind: "move", from };
  }

  async #call(client: ConvexHttpClient, { key, kind, from }: Done): Promise<void> {
    const args = { round: this.round, key };
    const lib = api["load"]!;
    if (kind === "schedule") {
      const delayMs = Math.floor(this.random() * MAX_DELAY_MS);
      await client.mutation(lib["schedule"]!, { ...args, delayMs });
    } else if (kind === "chain") await client.mutation(lib["startChain"]!, args);
    else if (kind === "move") await client.mutation(lib["move"]!, { ...args, from });
    else await client.mutation(lib["write"]!, args);
  }

  async #callOverSocket(): Promise<void> {
    for (let n = 0; !this.#stopped; n += SOCKET_BATCH) {
      const batch = Array.from({ length: SOCKET_BATCH }, (_, i) => this.#promise(n + i));
      this.promised.push(...batch);
      await Promise.race([Promise.allSettled(batch), this.#stoppedSoon()]);
    }
  }

  async #promise(n: number): Promise<Done> {
    const done: Done = { key: `${this.round}-s-${n}`, kind: n % 3 === 0 ? "schedule" : "write" };
    const args = { round: this.round, key: done.key };
    const lib = api["load"]!;
    if (done.kind === "schedule") {
      await this.socket.mutation(lib["schedule"]!, { ...args, delayMs: 0 });
    } else await this.socket.mutation(lib["write"]!, args);
    this.#acknowledge(done);
    return done;
  }

  async #watchTimestamps(): Promise<void> {
    while (!this.#stopped) {
      const ts = await timestampOf(this.url).catch(() => 0n);
      if (ts > this.latestTs) this.latestTs = ts;
      await pause(5);
    }
  }

  #acknowledge(done: Done): void {
    this.acknowledged.push(done);
    if (this.acknowledged.length >= WARM) this.#warm();
  }

  async #stoppedSoon(): Promise<void> {
    while (!this.#stopped) await pause(5);
  }
}

/** Of the latest snapshot: 64 bits, little-endian, in base64. */
export async function timestampOf(url: string): Promise<bigint> {
  const response = await fetch(`${url}/api/query_ts`, { method: "POST" });
  const { ts } = (await response.json()) as { ts: string };
  return Buffer.from(ts, "base64").readBigUInt64LE();
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
