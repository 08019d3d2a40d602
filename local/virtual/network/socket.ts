/**
 * A `WebSocket` over a link, as a browser's: text both ways in order, and an end that both sides learn of unless the
 * network swallows it.
 */
import type { Link } from "./link.js";
import type { ServerSocket } from "./network.js";

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

/** The code that a socket reports when it broke: RFC 6455, section 7.1.5. */
const BROKEN = 1006;
const NORMAL = 1000;
/** How long a closing socket waits for the other side. The same as `ws` has for its `closeTimeout`. */
const CLOSE_TIMEOUT_MS = 30_000;

type Listener = ((event: never) => void) | null;

export class VirtualSocket {
  static readonly CONNECTING = CONNECTING;
  static readonly OPEN = OPEN;
  static readonly CLOSING = CLOSING;
  static readonly CLOSED = CLOSED;

  onopen: Listener = null;
  onmessage: Listener = null;
  onerror: Listener = null;
  onclose: Listener = null;
  readyState = CONNECTING;
  readonly bufferedAmount = 0;
  readonly extensions = "";
  readonly protocol = "";
  binaryType = "blob";
  readonly #listeners: { type: string; listener: (event: never) => void }[] = [];
  #server: ServerSocket | null = null;
  /** Messages on their way, each direction in order: one never overtakes another. */
  #outArrivesAt = 0;
  #inArrivesAt = 0;
  readonly #incoming: (() => void)[] = [];
  /** The network has swallowed something of it. */
  #hasGap = false;
  /** It was given up before it had come to the server: the server receives nothing of it. */
  #isGivenUp = false;

  constructor(
    private readonly link: Link,
    readonly url: string,
    private readonly enter: (run: () => void) => void,
  ) {
    const target = new URL(url.replace(/^ws/, "http"));
    if (this.#isSwallowed()) return;
    if (link.faults.down === "refused") {
      link.travel(() => this.#arrive(() => this.#broken()));
      return;
    }
    this.#out(() => {
      const server = link.network.server(target);
      if (this.#isGivenUp) return;
      if (server?.connect === undefined) return this.#in(() => this.#broken());
      this.#attach(server.connect(target));
      this.#in(() => {
        if (this.readyState !== CONNECTING) return;
        this.readyState = OPEN;
        this.#tell("open", {});
      });
    });
  }

  send(data: unknown): void {
    if (this.readyState === CONNECTING) {
      throw new DOMException("The socket is not open yet.", "InvalidStateError");
    }
    if (this.readyState !== OPEN) return;
    const text = typeof data === "string" ? data : new TextDecoder().decode(data as ArrayBuffer);
    this.#out(() => {
      this.link.note("message", `→ ${text.length}`);
      this.#server?.send(text);
    });
  }

  close(code = NORMAL, reason = ""): void {
    if (this.readyState >= CLOSING) return;
    const wasConnecting = this.readyState === CONNECTING;
    this.readyState = CLOSING;
    if (wasConnecting) return this.cut();
    this.#out(() => this.#server?.close(code, reason));
    this.link.place.timer(CLOSE_TIMEOUT_MS, () => this.#ended(BROKEN, ""));
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push({ type, listener });
  }

  removeEventListener(type: string, listener: (event: never) => void): void {
    const at = this.#listeners.findIndex((one) => one.type === type && one.listener === listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  /** The connection breaks. The server learns at once, the program when it can. */
  cut(): void {
    this.#isGivenUp = true;
    const server = this.#server;
    this.#server = null;
    if (server !== null) {
      server.onMessage = null;
      server.onClose = null;
      server.close(BROKEN, "");
    }
    this.#incoming.length = 0;
    this.#arrive(() => this.#broken());
  }

  /** The network carries messages again. */
  mended(): void {
    if (this.#hasGap) this.cut();
  }

  #isSwallowed(): boolean {
    if (this.link.faults.down !== "silent") return false;
    this.#hasGap = true;
    return true;
  }

  #attach(server: ServerSocket): void {
    this.#server = server;
    server.onMessage = (text) =>
      this.#in(() => {
        this.link.note("message", `← ${text.length}`);
        if (this.readyState === OPEN) this.#tell("message", { data: text });
      });
    server.onClose = (code, reason) => {
      this.#server = null;
      this.#in(() => this.#ended(code, reason));
    };
  }

  /** To the server, after all that was sent before. */
  #out(arrive: () => void): void {
    if (this.#isSwallowed()) return;
    const { env } = this.link.network.options;
    const at = Math.max(this.#outArrivesAt, env.now() + this.link.latency());
    // Two of one time would be drawn in any order.
    this.#outArrivesAt = at + MESSAGE_GAP_MS;
    env.timer(at - env.now(), arrive);
  }

  /** To the program. It takes them in order, however late it comes to that. */
  #in(deliver: () => void): void {
    if (this.#isSwallowed()) return;
    const { env } = this.link.network.options;
    const at = Math.max(this.#inArrivesAt, env.now() + this.link.latency());
    this.#inArrivesAt = at + MESSAGE_GAP_MS;
    this.#incoming.push(deliver);
    env.timer(at - env.now(), () => this.#arrive(() => this.#incoming.shift()?.()));
  }

  #arrive(deliver: () => void): void {
    this.link.arrive(deliver);
  }

  #broken(): void {
    if (this.readyState === CLOSED) return;
    this.#tell("error", { message: "The connection broke." });
    this.#ended(BROKEN, "");
  }

  #ended(code: number, reason: string): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.link.ended(this);
    this.#tell("close", { code, reason, wasClean: code !== BROKEN });
  }

  #tell(type: "open" | "message" | "error" | "close", detail: object): void {
    const event = { type, target: this, ...detail } as never;
    this.enter(() => {
      this[`on${type}`]?.(event);
      for (const one of [...this.#listeners]) if (one.type === type) one.listener(event);
    });
  }
}

/** A thousandth of a millisecond: the least distance between two frames. */
const MESSAGE_GAP_MS = 0.001;
