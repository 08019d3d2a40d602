/**
 * One client's connection as its session sees it: messages become frames, refusals become the platform's last words and
 * close codes, silence is broken by a ping, and a client that is silent for long is given up. It does not know the
 * meaning of messages.
 */
import type { Environment, Timer } from "../../environment.js";
import type { PlatformError } from "../../functions/errors.js";
import { toPlatformError } from "../http.js";
import {
  CLIENT_SILENCE_MS,
  CLOSE_INTERNAL_ERROR,
  CLOSE_NORMAL,
  CLOSE_TRY_AGAIN,
  MAX_CLOSE_REASON_BYTES,
  PING_IDLE_MS,
  SOCKET_PING_MS,
} from "../limits.js";
import type { PlainMessage, Transition } from "./messages.js";
import type { Connection, Refusal } from "./session.js";
import type { Wire } from "./syncServer.js";
import { transitionFrames } from "./transitionChunks.js";

export class SyncConnection implements Connection {
  #lastSent: number;
  #lastHeard: number;
  #idle: Timer;
  #silence: Timer;
  #transitions = 0;

  constructor(
    private readonly wire: Wire,
    private readonly env: Environment,
    private readonly onCrash: (error: unknown) => void,
  ) {
    this.#lastSent = this.#lastHeard = env.now();
    this.#idle = this.#pingWhenIdle(PING_IDLE_MS);
    this.#silence = this.#askWhetherThere();
  }

  send(message: PlainMessage): void {
    void this.#sendFrame(JSON.stringify(message));
  }

  async sendTransition(transition: Transition): Promise<void> {
    const frames = transitionFrames(JSON.stringify(transition), String(++this.#transitions));
    await Promise.all([...frames].map((frame) => this.#sendFrame(frame)));
  }

  /**
   * An error of the client's is said in a message, and it does not come again with it; after other errors it may try
   * again.
   */
  refuse(error: unknown, { identityVersion, authenticating }: Refusal): void {
    const refused = toPlatformError(error, this.onCrash);
    const { status, message } = refused;
    if (status === 401 || (authenticating && isClients(status))) {
      this.send({
        type: "AuthError",
        error: message,
        baseVersion: identityVersion,
        authUpdateAttempted: authenticating,
      });
    } else if (isClients(status)) {
      this.send({ type: "FatalError", error: message });
    }
    const code = closeCode(refused);
    if (code === null) this.wire.close();
    else this.wire.close(code, shortened(refused.code));
  }

  /** Any sign of the client, an answer to a ping included. */
  heard(): void {
    this.#lastHeard = this.env.now();
  }

  closed(): void {
    this.#idle.cancel();
    this.#silence.cancel();
  }

  /** One timer per connection, which checks when it rings whether anything was sent meanwhile. */
  #pingWhenIdle(ms: number): Timer {
    return this.env.timer(ms, () => {
      const idle = this.env.now() - this.#lastSent;
      if (idle >= PING_IDLE_MS) this.send({ type: "Ping" });
      const left = idle >= PING_IDLE_MS ? PING_IDLE_MS : PING_IDLE_MS - idle;
      this.#idle = this.#pingWhenIdle(Math.max(1, left));
    });
  }

  #askWhetherThere(): Timer {
    return this.env.timer(SOCKET_PING_MS, () => {
      if (this.env.now() - this.#lastHeard > CLIENT_SILENCE_MS) return this.wire.terminate();
      this.wire.ping();
      this.#silence = this.#askWhetherThere();
    });
  }

  /** A wire that has closed takes nothing more; no code waits for it. */
  #sendFrame(frame: string): Promise<void> {
    this.#lastSent = this.env.now();
    return this.wire.send(frame);
  }
}

/** Trying again cannot help (errors/src/lib.rs, `is_deterministic_user_error`). */
function isClients(status: number): boolean {
  return status === 400 || status === 401 || status === 403 || status === 409 || status === 413;
}

/** `null`: no code, since the message before has said it (errors/src/lib.rs, `close_frame`). */
function closeCode({ status }: PlatformError): number | null {
  if (status === 403 || status === 404 || status === 408) return CLOSE_NORMAL;
  if (isClients(status)) return null;
  return status === 425 || status === 429 || status === 503
    ? CLOSE_TRY_AGAIN
    : CLOSE_INTERNAL_ERROR;
}

/** The client backs off by the code that the reason begins with. */
function shortened(reason: string): string {
  const bytes = Buffer.from(reason).subarray(0, MAX_CLOSE_REASON_BYTES);
  return bytes.toString("utf8").replace(/\uFFFD+$/, "");
}
