/**
 * The network between programs and servers: messages that take their time, connections that are refused, cut or
 * swallowed. Each client has a link of its own, with faults that other links do not have. It carries bytes and knows no
 * protocol above HTTP and sockets.
 */
import type { Branch } from "../branch.js";
import type { RandomStream } from "../random.js";
import type { Environment } from "../../environment.js";
import { Link } from "./link.js";

/** The serving end of a socket, as `local/server/door.ts` gives it. */
export interface ServerSocket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  onMessage: ((text: string) => void) | null;
  onClose: ((code: number, reason: string) => void) | null;
}

export interface Server {
  fetch(request: Request): Promise<Response>;
  /** Absent: it takes no sockets. */
  connect?(url: URL): ServerSocket;
}

export interface NetworkOptions {
  /** Where messages travel: not part of any program, so that they arrive at the programs that are left. */
  env: Pick<Environment, "now" | "timer">;
  random: RandomStream;
  /** One way, in milliseconds; drawn for every message. */
  latency: () => number;
  trace?: ((what: string, detail: string) => void) | undefined;
}

export class Network {
  readonly #servers = new Map<string, Server>();
  readonly #links = new Map<string, Link>();

  constructor(readonly options: NetworkOptions) {}

  /** From now on `host` (`example.com`, `127.0.0.1:80`) is answered by `server`; by no server when it is `null`. */
  serve(host: string, server: Server | null): void {
    if (server === null) this.#servers.delete(host);
    else this.#servers.set(host, server);
  }

  server(url: URL): Server | undefined {
    return this.#servers.get(url.host);
  }

  /** A program's way to the network. `place` is where it runs: messages that arrive there wait while it is held. */
  connect(name: string, place: Branch): Link {
    if (this.#links.has(name)) throw new Error(`There is a link "${name}" already.`);
    const link = new Link(this, name, place);
    this.#links.set(name, link);
    return link;
  }

  /** The link of the client or program of that name. */
  link(name: string): Link {
    const link = this.#links.get(name);
    if (link === undefined) {
      throw new Error(`There is no link "${name}", only ${[...this.#links.keys()].join(", ")}.`);
    }
    return link;
  }

  get links(): readonly Link[] {
    return [...this.#links.values()];
  }

  forget(link: Link): void {
    this.#links.delete(link.name);
  }
}
