/**
 * One client's connection as its session sees it: messages become frames, refusals become the platform's close codes,
 * silence is broken by a ping. It knows nothing of what messages mean.
 */
import type { Environment } from "../../environment.js";
import { toPlatformError } from "../http.js";
import { CLOSE_TRY_AGAIN, MAX_CLOSE_REASON_BYTES, PING_IDLE_MS } from "../limits.js";
import type { PlainMessage, Transition } from "./messages.js";
import type { Connection } from "./session.js";
import type { Wire } from "./syncServer.js";
import { transitionFrames } from "./transitionChunks.js";

export class SyncConnection implements Connection {
  #lastSent: number;
  #ping: { cancel(): void };
  #transitions = 0;

  constructor(
    private readonly wire: Wire,
    private readonly env: Environment,
    private readonly onCrash: (error: unknown) => void,
  ) {
    this.#lastSent = env.now();
    this.#ping = this.#pingAfter(PING_IDLE_MS);
  }

  send(message: PlainMessage): void {
    void this.#sendFrame(JSON.stringify(message));
  }

  async sendTransition(transition: Transition): Promise<void> {
    const frames = transitionFrames(JSON.stringify(transition), String(++this.#transitions));
    await Promise.all([...frames].map((frame) => this.#sendFrame(frame)));
  }

  refuse(error: unknown): void {
    const { code, message } = toPlatformError(error, this.onCrash);
    // The client backs off by the code that the reason begins with.
    const reason = Buffer.from(`${code}: ${message}`).subarray(0, MAX_CLOSE_REASON_BYTES);
    this.wire.close(CLOSE_TRY_AGAIN, reason.toString("utf8").replace(/\uFFFD+$/, ""));
  }

  closed(): void {
    this.#ping.cancel();
  }

  /** One timer a connection, which looks when it rings whether anything was sent meanwhile. */
  #pingAfter(ms: number): { cancel(): void } {
    return this.env.timer(ms, () => {
      const idle = this.env.now() - this.#lastSent;
      if (idle >= PING_IDLE_MS) this.send({ type: "Ping" });
      this.#ping = this.#pingAfter(
        Math.max(1, idle >= PING_IDLE_MS ? PING_IDLE_MS : PING_IDLE_MS - idle),
      );
    });
  }

  /** A wire that has closed takes nothing more; nobody waits for it. */
  #sendFrame(frame: string): Promise<void> {
    this.#lastSent = this.env.now();
    return this.wire.send(frame);
  }
}
