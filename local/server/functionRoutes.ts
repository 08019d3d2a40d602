/** The public HTTP API: queries, mutations and actions, one a request. */
import { jsonToConvex, type JSONValue } from "convex/values";
import type { Database } from "../engine/types.js";
import { PlatformError } from "../functions/errors.js";
import type { FunctionResult, Identity } from "../functions/types.js";
import type { AdminKey } from "./adminKey.js";
import type { Call, Calls } from "./calls.js";
import { badRequest, type HttpRequest, type Routes } from "./http.js";
import { decodeTs, encodeTs } from "./timestamps.js";
import { formatValue, type ValueFormat } from "./values.js";

interface FunctionRequest {
  call: Call;
  format: ValueFormat;
}

type FunctionResponse =
  | { status: "success"; value: unknown; logLines: string[] }
  | { status: "error"; errorMessage: string; errorData?: unknown; logLines: string[] };

export function functionRoutes(calls: Calls, adminKey: AdminKey, database: Database): Routes {
  const run = async (
    request: HttpRequest,
    kind: keyof Calls,
    body: unknown = request.body,
  ): Promise<FunctionResponse> => {
    const { call, format } = parse(body, adminKey.identify(request.authorization));
    return respond(await calls[kind](call), format);
  };

  return {
    "GET /api/query": (request) => run(request, "query", fromSearch(request.url)),
    "POST /api/query": (request) => run(request, "query"),
    "POST /api/mutation": (request) => run(request, "mutation"),
    "POST /api/action": (request) => run(request, "action"),
    "POST /api/function": (request) => run(request, "any"),
    "POST /api/run/*": (request) =>
      run(request, "any", { ...(request.body as object), path: fromRest(request.rest) }),
    "POST /api/query_ts": () => ({ ts: encodeTs(database.latestTs) }),
    "POST /api/query_at_ts": (request) => {
      requireLatest(request.body, database);
      return run(request, "query");
    },
    "POST /api/query_batch": async (request) => {
      const { queries } = (request.body ?? {}) as { queries?: unknown };
      if (!Array.isArray(queries)) throw badRequest("query_batch needs an array `queries`.");
      return { results: await Promise.all(queries.map((body) => run(request, "query", body))) };
    },
  };
}

function parse(body: unknown, identity: Identity): FunctionRequest {
  if (typeof body !== "object" || body === null) {
    throw badRequest("The body must be an object { path, args, format }.");
  }
  const { path, args, format, componentPath } = body as Record<string, unknown>;
  if (typeof path !== "string")
    throw badRequest('`path` must be a string such as "messages:list".');
  if (format !== undefined && format !== "json" && format !== "convex_encoded_json") {
    throw badRequest(
      `\`format\` must be "json" or "convex_encoded_json", got ${JSON.stringify(format)}.`,
    );
  }
  const given = Array.isArray(args) ? (args as unknown[])[0] : args;
  requireValues(given ?? {});
  const component = typeof componentPath === "string" ? { componentPath } : {};
  return {
    call: { path, args: (given ?? {}) as JSONValue, identity, ...component },
    format: format ?? "json",
  };
}

function requireValues(args: unknown): void {
  try {
    jsonToConvex(args as JSONValue);
  } catch (error) {
    throw badRequest(`\`args\` are not Convex values: ${(error as Error).message}`);
  }
}

/** A failure of the app's code is an answer like any other, with status 200; the platform's refusals are not. */
function respond(result: FunctionResult, format: ValueFormat): FunctionResponse {
  const logLines = result.logs;
  if (result.ok) {
    return { status: "success", value: formatValue(result.value, format), logLines };
  }
  return {
    status: "error",
    errorMessage: result.message,
    ...(result.data === undefined ? {} : { errorData: formatValue(result.data, format) }),
    logLines,
  };
}

function fromSearch(url: URL): unknown {
  const search = url.searchParams;
  const args = search.get("args");
  try {
    return {
      path: search.get("path"),
      args: args === null ? {} : (JSON.parse(args) as unknown),
      ...(search.has("format") ? { format: search.get("format") } : {}),
    };
  } catch (error) {
    throw badRequest(`\`args\` is not valid JSON: ${(error as Error).message}`);
  }
}

/** `messages/list` is `messages:list`: the last part names the function. */
function fromRest(rest: string): string {
  let parts: string[];
  try {
    parts = decodeURIComponent(rest).split("/");
  } catch {
    throw badRequest(`"${rest}" is not the path of a function: its % signs do not decode.`);
  }
  const name = parts.pop()!;
  return parts.length === 0 ? name : `${parts.join("/")}:${name}`;
}

/** Only the present can be read here; the platform keeps snapshots for some 30 s. */
function requireLatest(body: unknown, database: Database): void {
  const { ts } = (body ?? {}) as { ts?: unknown };
  if (typeof ts !== "string") throw badRequest("query_at_ts needs `ts` as query_ts gave it.");
  const given = givenTs(ts);
  if (given === database.latestTs) return;
  throw new PlatformError(
    400,
    "UnsupportedByLocalBackend",
    `The local backend reads only its latest snapshot, and something was written since ${given}. ` +
      `Ask query_ts again, or leave consistentQuery out.`,
  );
}

function givenTs(text: string): bigint {
  try {
    return decodeTs(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}
