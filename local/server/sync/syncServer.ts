/**
 * All clients' connections: one session each, and their shared services. The carrier of frames, a WebSocket or a pair
 * of functions in this process, is a `Wire` to it.
 */
import type { Database } from "../../engine/types.js";
import type { Environment } from "../../environment.js";
import { PlatformError } from "../../functions/errors.js";
import type { Authenticator } from "../authenticator.js";
import type { Calls } from "../calls.js";
import { CommitFeed } from "./commitFeed.js";
import { SyncConnection } from "./connection.js";
import { MutationLedger } from "./mutationLedger.js";
import { Session } from "./session.js";

export interface SyncServerOptions {
  env: Environment;
  database: Database;
  calls: Calls;
  authenticator: Pick<Authenticator, "user" | "admin">;
  /** Calls back whenever other code is deployed; returns the way to stop. */
  onInstalled: (listener: () => void) => () => void;
  onCrash: (error: unknown) => void;
}

/** The way to one client. */
export interface Wire {
  /** Resolves when the frame has left this process, or never will. */
  send(frame: string): Promise<void>;
  /** Says goodbye, with a code of the WebSocket protocol or without one. */
  close(code?: number, reason?: string): void;
  /** Asks whether the client is there; its answer comes by `heard`. */
  ping(): void;
  /** Cuts, as a bad network would. */
  terminate(): void;
}

/** The events of a wire. */
export interface Line {
  receive(frame: string): void;
  /** A frame that is no text. */
  receiveBinary(): void;
  /** The answer to a ping. */
  heard(): void;
  closed(): void;
}

export class SyncServer {
  readonly #options: SyncServerOptions;
  readonly #feed: CommitFeed;
  readonly #ledger = new MutationLedger();
  readonly #open = new Map<Session, Wire>();
  readonly #stop: () => void;

  constructor(options: SyncServerOptions) {
    this.#options = options;
    this.#feed = new CommitFeed(options.database, options.env);
    this.#stop = options.onInstalled(() => {
      for (const session of this.#open.keys()) session.deployed();
    });
  }

  accept(wire: Wire): Line {
    const { env, onCrash } = this.#options;
    const connection = new SyncConnection(wire, env, onCrash);
    const session = new Session({
      ...this.#options,
      feed: this.#feed,
      ledger: this.#ledger,
      connection,
    });
    this.#open.set(session, wire);
    return {
      receive(frame) {
        connection.heard();
        session.receive(frame);
      },
      receiveBinary: () => session.refuse(BINARY_FRAME),
      heard: () => connection.heard(),
      closed: () => {
        connection.closed();
        session.close();
        this.#open.delete(session);
      },
    };
  }

  /** Ends every connection as if the network had: clients reconnect. */
  dropConnections(): void {
    for (const wire of [...this.#open.values()]) wire.terminate();
  }

  close(): void {
    this.#stop();
    this.#feed.close();
    for (const wire of [...this.#open.values()]) wire.close(1001, "Backend is stopping");
  }
}

/** The protocol is text. As on the platform, the connection ends and the client may come again. */
const BINARY_FRAME = new PlatformError(
  500,
  "InternalServerError",
  "A message must be a text frame of JSON, got a binary one.",
);
