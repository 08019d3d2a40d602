/**
 * One way in for every function call from outside, over HTTP or a socket: permissions, paths of functions of the
 * backend itself, and the text of a failure for the client.
 */
import type { JSONValue } from "convex/values";
import type { ReadSet, Ts } from "../engine/types.js";
import { PlatformError } from "../functions/errors.js";
import type {
  CallOptions,
  FunctionAddress,
  FunctionResult,
  FunctionRunner,
  Identity,
  SessionRequest,
} from "../functions/types.js";
import type { SystemQueries } from "./systemQueries.js";

export interface Call {
  path: string;
  /** The JSON encoding of the arguments' object. */
  args: JSONValue;
  identity: Identity;
  /** Of a component's function: for admins only. */
  componentPath?: string | undefined;
  /** Of a query that ran before: where its page ended. */
  journal?: string | null;
  /** The snapshot that a query reads. Defaults to the latest. */
  at?: Ts;
  /** The call came over a socket, and its client may send it again. */
  session?: SessionRequest;
}

/** A query's result; `reads` is `null` where it depends on the deployment and not on rows. */
export type CalledQuery = FunctionResult & {
  ts: Ts;
  reads: ReadSet | null;
  /** To be given back when the query is run once more. */
  journal: string | null;
};

export interface Calls {
  query(call: Call): Promise<CalledQuery>;
  mutation(call: Call): Promise<FunctionResult & { ts: Ts }>;
  action(call: Call): Promise<FunctionResult>;
  any(call: Call): Promise<FunctionResult>;
}

export interface CallsOptions {
  /** As in production: clients, except the admin, receive neither errors' texts nor log lines. */
  redact: boolean;
}

export function createCalls(
  runner: FunctionRunner,
  system: SystemQueries,
  { redact }: CallsOptions = { redact: false },
): Calls {
  let requests = 0;

  function open(call: Call): { address: FunctionAddress; options: CallOptions } {
    const isAdmin = call.identity.kind === "admin";
    if (call.componentPath && !isAdmin) {
      throw new PlatformError(
        403,
        "ComponentPathNotAllowed",
        `Only an admin may call functions of component "${call.componentPath}" directly. Clients call the app's functions.`,
      );
    }
    return {
      address: { namespace: call.componentPath ?? "", path: canonicalPath(call.path) },
      options: {
        identity: call.identity,
        publicOnly: !isAdmin,
        requestId: (++requests).toString(16).padStart(16, "0"),
      },
    };
  }

  /** The platform puts the request's id in front of a failure, which is also how it marks it as the server's. */
  function told<Result extends FunctionResult>(result: Result, options: CallOptions): Result {
    const isRedacted = redact && options.identity.kind !== "admin";
    const logs = isRedacted ? [] : result.logs;
    if (result.ok) return { ...result, logs };
    const message = `[Request ID: ${options.requestId}] Server Error`;
    return { ...result, logs, message: isRedacted ? message : `${message}\n${result.message}` };
  }

  const calls: Calls = {
    async query(call) {
      const { address, options } = open(call);
      if (address.path.startsWith("_system/")) return system.run(address, call.args, call.identity);
      const at = call.at === undefined ? {} : { at: call.at };
      const journal = call.journal ?? null;
      const result = await runner.query(address, call.args, { ...options, ...at, journal });
      return told(result, options);
    },
    async mutation(call) {
      const { address, options } = open(call);
      return told(
        await runner.mutation(address, call.args, {
          ...options,
          ...(call.session && { session: call.session }),
        }),
        options,
      );
    },
    async action(call) {
      const { address, options } = open(call);
      return told(await runner.action(address, call.args, options), options);
    },
    async any(call) {
      const { address } = open(call);
      if (address.path.startsWith("_system/")) return calls.query(call);
      const udfType = runner.find(address)?.udfType;
      if (udfType === "Mutation") return calls.mutation(call);
      if (udfType === "Action") return calls.action(call);
      // A query, or nothing at all: then the runner says so in its own words.
      return calls.query(call);
    },
  };
  return calls;
}

/** Clients may write `messages.js:list`, and leave `:default` out. */
export function canonicalPath(path: string): string {
  const [module = "", name = "default"] = path.split(":");
  return `${module.replace(/\.js$/, "")}:${name}`;
}
