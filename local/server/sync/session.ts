/**
 * One connection of a client: reads its messages in order, and brings it from version to version. A version is three
 * numbers: of its set of queries, of its identity, and of the database.
 *
 * One update runs at a time. All events that may change the client's view (a commit into a read set, a message, a
 * finished mutation) ask for another; asking while one runs makes one more after it, not more.
 */
import type { Database, Ts } from "../../engine/types.js";
import type { Environment } from "../../environment.js";
import { PlatformError } from "../../functions/errors.js";
import { ANYONE } from "../../functions/identity.js";
import type { Identity } from "../../functions/types.js";
import type { Authenticator } from "../authenticator.js";
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
import { parseMessage } from "./parseMessage.js";
import { QuerySet } from "./querySet.js";
import { RequestQueue } from "./requestQueue.js";

export interface SessionOptions {
  env: Environment;
  database: Pick<Database, "latestTs">;
  calls: Calls;
  feed: CommitFeed;
  ledger: MutationLedger;
  authenticator: Pick<Authenticator, "user" | "admin">;
  connection: Connection;
}

/** The socket, as a session needs it. */
export interface Connection {
  send(message: PlainMessage): void;
  /** Resolves when the transition has left this process, so that a slow client is not sent one after another. */
  sendTransition(transition: Transition): Promise<void>;
  /** Ends the connection, and tells whether the client may come again. */
  refuse(error: unknown, about: Refusal): void;
}

/** The facts for the client when the refusal is about its identity. */
export interface Refusal {
  /** Of the last transition. */
  identityVersion: number;
  /** Its last message was a token. */
  authenticating: boolean;
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
  /** Frames that wait until a token before them is verified. */
  readonly #inbox: string[] = [];
  #authenticating = false;
  #sessionId: string | null = null;
  #clientClockSkew: number | null = null;
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
    this.#queries = new QuerySet({
      calls,
      feed,
      latestTs: () => database.latestTs,
      onOutdated: () => this.#wantUpdate(),
    });
    this.#requests = new RequestQueue({
      calls,
      ledger,
      reply: (message) => {
        if (this.#closed) return;
        // Before the transition: the client drops its optimistic update at the first one that reaches this timestamp.
        connection.send(message);
        this.#wantUpdate();
      },
      refuse: (error) => this.#refuse(error),
    });
  }

  receive(frame: string): void {
    this.#inbox.push(frame);
    this.#read();
  }

  /** Other code is deployed: everything may answer differently. */
  deployed(): void {
    this.#queries.outdateAll();
    this.#wantUpdate();
  }

  close(): void {
    this.#closed = true;
    this.#inbox.length = 0;
    this.#queries.close();
    this.#requests.close();
  }

  #read(): void {
    while (!this.#closed && !this.#authenticating) {
      const frame = this.#inbox.shift();
      if (frame === undefined) return;
      try {
        this.#handle(parseMessage(frame));
      } catch (error) {
        this.#refuse(error);
      }
    }
  }

  /** Ends the connection with this error. */
  refuse(error: unknown): void {
    this.#refuse(error);
  }

  #refuse(error: unknown, authenticating = false): void {
    if (this.#closed) return;
    const { identity } = this.#reached;
    this.close();
    this.#options.connection.refuse(error, { identityVersion: identity, authenticating });
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
        return this.#requests.mutate(this.#connected(), message, this.#validIdentity());
      case "Action":
        return this.#act(message);
      case "Event":
        return; // The client's measurements of itself.
    }
  }

  /** As on the platform, one that comes again only names the session anew. */
  #connect(message: Connect): void {
    const observed = message.maxObservedTimestamp ?? null;
    const { latestTs } = this.#options.database;
    if (observed !== null && decodeTs(observed) > latestTs) {
      // It spoke with another backend before. As on the platform, it may try again.
      throw new PlatformError(
        503,
        "MaxObservedTimestampInFuture",
        `The client has seen ${decodeTs(observed)}, but the latest here is ${latestTs}. Reload it.`,
      );
    }
    const { sessionId, clientTs } = message;
    this.#sessionId = sessionId;
    if (typeof clientTs === "number") {
      this.#clientClockSkew = clientTs - Math.floor(this.#options.env.now());
    }
  }

  #connected(): string {
    if (this.#sessionId !== null) return this.#sessionId;
    throw new PlatformError(400, "NotConnected", "The first message must be Connect.");
  }

  #authenticate(message: Authenticate): void {
    expectVersion("identity", this.#wanted.identity, message.baseVersion);
    this.#authenticating = true;
    this.#identify(message)
      .then(
        (identity) => this.#becomes(identity),
        (error: unknown) => this.#refuse(error, true),
      )
      .then(() => {
        this.#authenticating = false;
        this.#read();
        this.#startUpdate();
      })
      .catch((error: unknown) => this.#refuse(error));
  }

  async #identify({ tokenType, value = "", impersonating }: Authenticate): Promise<Identity> {
    const { authenticator } = this.#options;
    if (tokenType === "None") return ANYONE;
    if (tokenType === "User") return authenticator.user(value);
    return authenticator.admin(value, impersonating);
  }

  #becomes(identity: Identity): void {
    if (this.#closed) return;
    this.#identity = identity;
    this.#wanted.identity++;
    this.#queries.outdateAll();
    this.#wantUpdate();
  }

  /** A token ends while its bearer is connected: from then on nothing is done in its name. */
  #validIdentity(): Identity {
    const identity = this.#identity;
    if (identity.kind === "user" && this.#options.env.now() >= identity.expiresAt) {
      throw new PlatformError(401, "TokenExpired", "Convex token identity expired");
    }
    return identity;
  }

  #modify({ baseVersion, newVersion, modifications }: ModifyQuerySet): void {
    expectVersion("query set", this.#wanted.querySet, baseVersion);
    if (newVersion <= baseVersion) {
      throw new PlatformError(
        400,
        "VersionNotIncreasing",
        `The query set goes from version ${baseVersion} to ${newVersion}, which must be greater.`,
      );
    }
    this.#queries.modify(modifications);
    this.#wanted.querySet = newVersion;
    this.#wantUpdate();
  }

  #act(message: FunctionRequest): void {
    this.#requests.act(message, this.#validIdentity());
  }

  #wantUpdate(): void {
    this.#updateWanted = true;
    this.#startUpdate();
  }

  /** Not while a token is verified: results after the token must not be shown to the earlier user. */
  #startUpdate(): void {
    if (!this.#updateWanted || this.#updating || this.#authenticating || this.#closed) return;
    this.#updating = true;
    this.#update().catch((error: unknown) => this.#refuse(error));
  }

  async #update(): Promise<void> {
    const { env, connection } = this.#options;
    while (this.#updateWanted && !this.#authenticating && !this.#closed) {
      this.#updateWanted = false;
      const { querySet, identity } = this.#wanted;
      const { ts, modifications } = await this.#queries.update(this.#validIdentity());
      // A mutation of this client that the snapshot holds has been published, but its response may be some promises away.
      if (this.#requests.isMutating) await env.pause();
      if (this.#closed) return;
      const start = this.#reached;
      this.#reached = { querySet, identity, ts };
      await connection.sendTransition({
        type: "Transition",
        startVersion: encodeVersion(start),
        endVersion: encodeVersion(this.#reached),
        modifications,
        clientClockSkew: this.#clientClockSkew,
        serverTs: Math.round(env.now() * 1e6),
      });
    }
    // In the same tick as the last check of `#updateWanted`, or a wish in between would be lost.
    this.#updating = false;
  }
}

function encodeVersion(version: Version): Transition["startVersion"] {
  return { ...version, ts: encodeTs(version.ts) };
}

function expectVersion(what: string, known: number, given: number): void {
  if (known === given) return;
  throw new PlatformError(
    400,
    "BaseVersionMismatch",
    `Base version ${given} passed up for the ${what} doesn't match the current version ${known}`,
  );
}
