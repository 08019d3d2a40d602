/**
 * A scripted backend for a real client, over a fake socket: behavior of the client, such as the rollback of an optimistic
 * update, is then the client's own and not a test's.
 */
import { ConvexReactClient } from "convex/react";
import { ConvexError, convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";

type Args = Record<string, any>;
type Answer = (args: Args) => unknown;

interface Asked {
  readonly path: string;
  readonly args: Args;
  /** The last answer sent: only a changed one is sent again. */
  said?: string;
}

interface ClientMessage {
  type: "Connect" | "ModifyQuerySet" | "Mutation" | "Authenticate" | "Action" | "Event";
  baseVersion?: number;
  newVersion?: number;
  modifications?: { type: "Add" | "Remove"; queryId: number; udfPath: string; args: [JSONValue] }[];
  requestId?: number;
  udfPath?: string;
  args?: [JSONValue];
}

export class TestBackend {
  /** By operation, as in `dashboard:overview`: the answer of a query, or its error. A query without an entry loads for ever. */
  readonly queries: Record<string, Answer> = {};
  /** By path: the answer of a mutation, now or later, or its error. */
  readonly mutations: Record<string, Answer> = {};
  /** Every mutation so far. */
  readonly called: { path: string; args: Args }[] = [];
  private readonly sockets = new Set<TestSocket>();
  private isReachable = true;

  client(): ConvexReactClient {
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const backend = this;
    class Socket extends TestSocket {
      constructor() {
        super(backend);
      }
    }
    return new ConvexReactClient("http://test.invalid", {
      webSocketConstructor: Socket as unknown as typeof WebSocket,
      unsavedChangesWarning: false,
      logger: false,
    });
  }

  /** Paths and arguments of the subscriptions. */
  get asked(): { path: string; args: Args }[] {
    return [...this.sockets].flatMap((socket) =>
      [...socket.asked.values()].map(({ path, args }) => ({ path, args })),
    );
  }

  /** Sends every changed answer. */
  tell(): void {
    for (const socket of this.sockets) socket.transition(0);
  }

  /** Drops all connections, and accepts none until it is reachable again. */
  reach(isReachable: boolean): void {
    this.isReachable = isReachable;
    if (!isReachable) for (const socket of this.sockets) socket.drop();
  }

  open(socket: TestSocket): boolean {
    if (this.isReachable) this.sockets.add(socket);
    return this.isReachable;
  }

  closed(socket: TestSocket): void {
    this.sockets.delete(socket);
  }
}

class TestSocket {
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;
  onclose?: (event: { code: number; reason: string }) => void;
  onerror?: (event: { message: string }) => void;
  readyState = 0;
  readonly asked = new Map<number, Asked>();
  private version = { querySet: 0, identity: 0, ts: 0 };

  constructor(private readonly backend: TestBackend) {
    setTimeout(() => {
      if (!backend.open(this)) return this.drop();
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(text: string): void {
    const message = JSON.parse(text) as ClientMessage;
    if (message.type === "ModifyQuerySet") this.ask(message);
    if (message.type === "Mutation") void this.mutate(message);
  }

  close(): void {
    this.drop();
  }

  drop(): void {
    this.backend.closed(this);
    this.readyState = 3;
    setTimeout(() => this.onclose?.({ code: 1006, reason: "" }));
  }

  private ask({ modifications = [], newVersion }: ClientMessage): void {
    const removed: number[] = [];
    for (const { type, queryId, udfPath, args } of modifications) {
      if (type === "Add") {
        this.asked.set(queryId, operationOf(udfPath, jsonToConvex(args[0]) as Args));
      } else if (this.asked.delete(queryId)) removed.push(queryId);
    }
    setTimeout(() => this.transition(newVersion! - this.version.querySet, removed));
  }

  /** Sends the changed answers and the ended subscriptions. */
  transition(querySets: number, removed: readonly number[] = []): void {
    const before = { ...this.version, ts: u64(this.version.ts) };
    this.version = {
      ...this.version,
      querySet: this.version.querySet + querySets,
      ts: this.version.ts + 1,
    };
    const gone = removed.map((queryId) => ({ type: "QueryRemoved", queryId }));
    const changed = [...this.asked].flatMap(([queryId, asked]) => {
      const answer = this.backend.queries[asked.path];
      if (answer === undefined) return [];
      const answered = { queryId, ...outcomeOf(() => answer(asked.args)) };
      if (JSON.stringify(answered) === asked.said) return [];
      asked.said = JSON.stringify(answered);
      return [answered];
    });
    const after = { ...this.version, ts: u64(this.version.ts) };
    this.say({
      type: "Transition",
      startVersion: before,
      endVersion: after,
      modifications: [...gone, ...changed],
    });
  }

  private async mutate({ requestId, udfPath, args }: ClientMessage): Promise<void> {
    const { path, args: given } = operationOf(udfPath!, jsonToConvex(args![0]) as Args);
    this.backend.called.push({ path, args: given });
    // No answer comes before the question has left.
    await Promise.resolve();
    try {
      const result = await this.backend.mutations[path]!(given);
      const ts = u64(this.version.ts + 1);
      this.say({
        ...{ type: "MutationResponse", requestId, success: true, ts, logLines: [] },
        result: convexToJson(result as Value),
      });
    } catch (error) {
      this.say({
        ...{ type: "MutationResponse", requestId, success: false, logLines: [] },
        ...failureOf(error, "result"),
      });
    }
    this.transition(0);
  }

  private say(message: object): void {
    if (this.readyState === 1) this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/** A call of `read` or `write` by its operation: `dashboard:overview`, with the other fields of the call. */
function operationOf(udfPath: string, { call, ...rest }: Args): { path: string; args: Args } {
  const path = udfPath.replace(".js", "");
  if (call === undefined) return { path, args: rest };
  const { kind, ...about } = call as Args & { kind: string };
  return { path: path.replace(/:(read|write)$/, `:${kind}`), args: { ...about, ...rest } };
}

function outcomeOf(answer: () => unknown): object {
  const common = { logLines: [], journal: null };
  try {
    return { type: "QueryUpdated", value: convexToJson(answer() as Value), ...common };
  } catch (error) {
    return { type: "QueryFailed", ...failureOf(error, "errorMessage"), ...common };
  }
}

function failureOf(error: unknown, as: "result" | "errorMessage"): object {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ConvexError)) return { [as]: message };
  return { [as]: message, errorData: convexToJson(error.data as Value) };
}

/** As the protocol writes 64 bits: eight bytes from the lowest on, in base64. */
function u64(value: number): string {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return btoa(String.fromCharCode(...bytes));
}
