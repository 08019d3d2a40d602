/**
 * One connection of a client: reads its messages in order, and brings it from version to version. A version is three
 * numbers: of its set of queries, of its identity, and of the database.
 *
 * One update runs at a time. Whatever may change what the client sees (a commit into a read set, a message, a finished
 * mutation) asks for another; asking while one runs makes one more after it, not more.
 */
import type { Database, Ts } from "../../engine/types.js";
import { PlatformError } from "../../functions/errors.js";
import type { Identity } from "../../functions/types.js";
import { ADMIN, ANYONE, badAdminKey, USER_TOKENS_UNSUPPORTED, type AdminKey } from "../adminKey.js";
import type { Calls } from "../calls.js";
import { decodeTs, encodeTs } from "../timestamps.js";
import type { CommitFeed } from "./commitFeed.js";
import type {
  Authenticate,
  ClientMessage,
  Connect,
  FunctionRequest,
  ModifyQuerySet,
  PlainMessage,
  Transition,
} from "./messages.js";
import type { MutationLedger } from "./mutationLedger.js";
import { QuerySet } from "./querySet.js";
import { RequestQueue } from "./requestQueue.js";

/** The client broke the protocol: trying again cannot help, so it is told to stop. */
class ProtocolError extends Error {}

export interface SessionOptions {
  database: Database;
  calls: Calls;
  feed: CommitFeed;
  ledger: MutationLedger;
  adminKey: AdminKey;
  connection: Connection;
}

/** The socket, as a session needs it. */
export interface Connection {
  send(message: PlainMessage): void;
  /** Resolves when the transition has left this process, so that a slow client is not sent one after another. */
  sendTransition(transition: Transition): Promise<void>;
  /** Ends the connection; the client comes again later. */
  refuse(error: unknown): void;
}

interface Version {
  querySet: number;
  identity: number;
  ts: Ts;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #queries: QuerySet;
  readonly #requests: RequestQueue;
  #sessionId: string | null = null;
  #identity: Identity = ANYONE;
  /** Where the client will be when all its messages are answered. */
  #wanted = { querySet: 0, identity: 0 };
  /** Where the last transition brought it. */
  #reached: Version = { querySet: 0, identity: 0, ts: 0n };
  #updating = false;
  #updateWanted = false;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { calls, feed, ledger, database, connection } = options;
    this.#queries = new QuerySet(
      calls,
      feed,
      () => database.latestTs,
      () => this.#wantUpdate(),
    );
    this.#requests = new RequestQueue({
      calls,
      ledger,
      reply: (message) => {
        // Before the transition: the client drops its optimistic update at the first one that reaches this timestamp.
        connection.send(message);
        this.#wantUpdate();
      },
      refuse: (error) => connection.refuse(error),
    });
  }

  receive(message: ClientMessage): void {
    if (this.#closed) return;
    try {
      this.#handle(message);
    } catch (error) {
      if (!(error instanceof ProtocolError)) return this.#options.connection.refuse(error);
      this.#options.connection.send({ type: "FatalError", error: error.message });
    }
  }

  /** Other code is deployed: everything may answer differently. */
  deployed(): void {
    this.#queries.outdateAll();
    this.#wantUpdate();
  }

  close(): void {
    this.#closed = true;
    this.#queries.close();
    this.#requests.close();
  }

  #handle(message: ClientMessage): void {
    switch (message.type) {
      case "Connect":
        return this.#connect(message);
      case "Authenticate":
        return this.#authenticate(message);
      case "ModifyQuerySet":
        return this.#modify(message);
      case "Mutation":
        return this.#requests.mutate(this.#connected(), message, this.#identity);
      case "Action":
        return this.#act(message);
      case "Event":
        return; // What a client measured of itself.
      default:
        throw new ProtocolError(
          `Unknown message type ${JSON.stringify((message as { type?: unknown }).type)}.`,
        );
    }
  }

  #connect(message: Connect): void {
    if (this.#sessionId !== null) throw new ProtocolError("Connect came twice on one connection.");
    const observed = message.maxObservedTimestamp;
    const { latestTs } = this.#options.database;
    if (observed !== undefined && decodeTs(observed) > latestTs) {
      // It spoke with another backend before. As on the platform, it may try again.
      throw new PlatformError(
        503,
        "MaxObservedTimestampInFuture",
        `The client has seen ${decodeTs(observed)}, but the latest here is ${latestTs}. Reload it.`,
      );
    }
    this.#sessionId = message.sessionId;
  }

  #connected(): string {
    if (this.#sessionId === null) throw new ProtocolError("The first message must be Connect.");
    return this.#sessionId;
  }

  #authenticate(message: Authenticate): void {
    this.#connected();
    expectVersion("identity", this.#wanted.identity, message.baseVersion);
    if (message.tokenType === "User") {
      return this.#options.connection.send({
        type: "AuthError",
        error: USER_TOKENS_UNSUPPORTED,
        baseVersion: message.baseVersion,
        authUpdateAttempted: true,
      });
    }
    if (message.tokenType === "Admin") {
      if (!this.#options.adminKey.matches(message.value ?? "")) {
        throw new ProtocolError(badAdminKey().message);
      }
      if (message.impersonating) {
        throw new ProtocolError(
          "The local backend has no users yet, so an admin cannot act as one. Leave --identity out.",
        );
      }
    }
    this.#identity = message.tokenType === "Admin" ? ADMIN : ANYONE;
    this.#wanted.identity++;
    this.#queries.outdateAll();
    this.#wantUpdate();
  }

  #modify(message: ModifyQuerySet): void {
    this.#connected();
    expectVersion("query set", this.#wanted.querySet, message.baseVersion);
    for (const modification of message.modifications) {
      if (modification.type === "Add") this.#queries.add(modification);
      else this.#queries.remove(modification.queryId);
    }
    this.#wanted.querySet = message.newVersion;
    this.#wantUpdate();
  }

  #act(message: FunctionRequest): void {
    this.#connected();
    this.#requests.act(message, this.#identity);
  }

  #wantUpdate(): void {
    this.#updateWanted = true;
    if (this.#updating || this.#closed) return;
    this.#updating = true;
    this.#update().catch((error: unknown) => this.#options.connection.refuse(error));
  }

  async #update(): Promise<void> {
    while (this.#updateWanted && !this.#closed) {
      this.#updateWanted = false;
      const { querySet, identity } = this.#wanted;
      const { ts, modifications } = await this.#queries.update(this.#identity);
      const start = this.#reached;
      this.#reached = { querySet, identity, ts };
      await this.#options.connection.sendTransition({
        type: "Transition",
        startVersion: encodeVersion(start),
        endVersion: encodeVersion(this.#reached),
        modifications,
      });
    }
    // In the same tick as the last look at `#updateWanted`, or a wish in between would find nobody.
    this.#updating = false;
  }
}

function encodeVersion(version: Version): Transition["startVersion"] {
  return { ...version, ts: encodeTs(version.ts) };
}

function expectVersion(what: string, known: number, given: number): void {
  if (known === given) return;
  throw new ProtocolError(
    `The client changes its ${what} from version ${given}, but the server is at ${known}.`,
  );
}
