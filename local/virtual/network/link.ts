/**
 * One program's way to the network, and its faults. Faults are drawn message by message from the seed, or set by the
 * test.
 */
import type { Branch } from "../branch.js";
import type { Network } from "./network.js";
import { request } from "./request.js";
import { VirtualSocket } from "./socket.js";

/** The faults of a link. Chances are from 0 to 1. */
export interface Faults {
  /** `refused`: connections fail at once. `silent`: nothing arrives, and no error is reported. */
  down: "no" | "refused" | "silent";
  /** A request does not arrive. The caller waits, until it gives up by itself. */
  loseRequests: number;
  /** A request arrives and is carried out, and its answer is lost: the caller learns that the connection broke. */
  loseReplies: number;
  /** A request arrives twice, as a proxy that tries again makes it. The caller gets the first answer. */
  repeatRequests: number;
  /** One way, in milliseconds, on top of the network's own. */
  extraLatencyMs: number;
}

const SOUND: Faults = {
  down: "no",
  loseRequests: 0,
  loseReplies: 0,
  repeatRequests: 0,
  extraLatencyMs: 0,
};

export class Link {
  readonly faults: Faults = { ...SOUND };
  readonly #sockets = new Set<VirtualSocket>();

  constructor(
    readonly network: Network,
    readonly name: string,
    /** Where the program runs that has this link. */
    readonly place: Branch,
  ) {}

  fetch = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    request(this, input, init);

  /** For `new WebSocket(url)`. `enter` runs its handlers, which are the program's. */
  socket(url: string, enter: (run: () => void) => void = (run) => run()): VirtualSocket {
    const socket = new VirtualSocket(this, url, enter);
    this.#sockets.add(socket);
    return socket;
  }

  /** No more faults. Connections of which something was swallowed meanwhile break: a stream has no gaps. */
  mend(): void {
    Object.assign(this.faults, SOUND);
    for (const socket of [...this.#sockets]) socket.mended();
  }

  /** Every connection breaks now: both ends learn of it. */
  cut(): void {
    for (const socket of [...this.#sockets]) socket.cut();
  }

  /** The program has gone: its machine closes the program's connections. */
  hangUp(): void {
    this.network.forget(this);
    for (const socket of [...this.#sockets]) this.travel(() => socket.cut());
  }

  /** Whether a thing with this chance happens now. Draws nothing for a chance of 0 or 1. */
  happens(chance: number): boolean {
    return chance > 0 && (chance >= 1 || this.network.options.random.next() < chance);
  }

  latency(): number {
    return this.network.options.latency() + this.faults.extraLatencyMs;
  }

  /** Calls back where the message arrives. */
  travel(arrive: () => void): void {
    this.network.options.env.timer(this.latency(), arrive);
  }

  /** Calls back in the program, when it is not held; never when it is gone. */
  arrive(deliver: () => void): void {
    this.place.timer(0, deliver);
  }

  note(what: string, detail: string): void {
    this.network.options.trace?.(what, `${this.name} ${detail}`);
  }

  ended(socket: VirtualSocket): void {
    this.#sockets.delete(socket);
  }
}
