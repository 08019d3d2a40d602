/** The public HTTP API: queries, mutations and actions, one a request. */
import type { JSONValue } from "convex/values";
import type { Database, Ts } from "../engine/types.js";
import { PlatformError } from "../functions/errors.js";
import type { FunctionResult, Identity } from "../functions/types.js";
import type { Authenticator } from "./authenticator.js";
import type { Call, Calls } from "./calls.js";
import { badRequest, type HttpRequest, type Routes } from "./http.js";
import { decodeTs, encodeTs } from "./timestamps.js";
import { formatValue, type ValueFormat } from "./values.js";

interface FunctionRequest {
  call: Call;
  format: ValueFormat;
}

type FunctionResponse = { logLines?: string[] } & (
  | { status: "success"; value: unknown }
  | { status: "error"; errorMessage: string; errorData?: unknown }
);

export function functionRoutes(
  calls: Calls,
  authenticator: Authenticator,
  database: Pick<Database, "latestTs">,
): Routes {
  const run = async (
    request: HttpRequest,
    kind: keyof Calls,
    body: unknown = jsonOf(request),
  ): Promise<FunctionResponse> => {
    const { call, format } = parse(body, await authenticator.ofRequest(request));
    return respond(await calls[kind](call), format);
  };

  return {
    "GET /api/query": (request) => run(request, "query", fromSearch(request.url)),
    "POST /api/query": (request) => run(request, "query"),
    "POST /api/mutation": (request) => run(request, "mutation"),
    "POST /api/action": (request) => run(request, "action"),
    "POST /api/function": (request) => run(request, "any"),
    "POST /api/run/*": (request) =>
      run(request, "any", { ...(jsonOf(request) as object), path: fromRest(request.rest) }),
    "POST /api/query_ts": () => ({ ts: encodeTs(database.latestTs) }),
    "POST /api/query_at_ts": async (request) => {
      const body = jsonOf(request);
      const { call, format } = parse(body, await authenticator.ofRequest(request));
      return respond(await calls.query({ ...call, at: tsOf(body) }), format);
    },
    "POST /api/query_batch": async (request) => {
      const { queries } = (jsonOf(request) ?? {}) as { queries?: unknown };
      if (!Array.isArray(queries)) throw badRequest("query_batch needs an array `queries`.");
      const identity = await authenticator.ofRequest(request);
      const parsed = queries.map((body: unknown) => parse(body, identity));
      const at = database.latestTs;
      const results: FunctionResponse[] = [];
      for (const { call, format } of parsed) {
        results.push(respond(await calls.query({ ...call, at }), format));
      }
      return { results };
    },
  };
}

/** The body, which the platform reads only where it is said to be JSON (common/src/http/extract.rs: json_content_type). */
function jsonOf({ headers, body }: HttpRequest): unknown {
  const type = headers.get("content-type") ?? "";
  if (/^\s*application\/([^;\s]+\+)?json\s*(;|$)/i.test(type)) return body;
  throw new PlatformError(
    400,
    "BadJsonBody",
    "Expected request with `Content-Type: application/json`",
  );
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
  if (componentPath !== undefined && componentPath !== null && typeof componentPath !== "string") {
    throw badRequest(`\`componentPath\` must be a string, got ${JSON.stringify(componentPath)}.`);
  }
  if (args === undefined) throw badRequest("The body is missing the field `args`.");
  // The list of positional arguments, of which a function has one: its check says what that may be.
  const list = Array.isArray(args) ? (args as JSONValue[]) : [args as JSONValue];
  if (list.length !== 1) {
    throw badRequest(
      `\`args\` must be an object, or an array that holds one, got ${JSON.stringify(args)}.`,
    );
  }
  const component = typeof componentPath === "string" ? { componentPath } : {};
  return {
    call: { path, args: list[0]!, identity, ...component },
    format: format ?? "json",
  };
}

/** A failure of the app's code is an answer like any other, with status 200; the platform's refusals are not. */
function respond(result: FunctionResult, format: ValueFormat): FunctionResponse {
  const logs = result.logs.length === 0 ? {} : { logLines: result.logs };
  if (result.ok) return { status: "success", value: formatValue(result.value, format), ...logs };
  return {
    status: "error",
    errorMessage: result.message,
    ...(result.data === undefined ? {} : { errorData: formatValue(result.data, format) }),
    ...logs,
  };
}

function fromSearch(url: URL): unknown {
  const search = url.searchParams;
  const args = search.get("args");
  try {
    return {
      path: search.get("path"),
      ...(args === null ? {} : { args: JSON.parse(args) as unknown }),
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
  if (parts.length > 0 && name !== "") return `${parts.join("/")}:${name}`;
  throw new PlatformError(
    400,
    "MissingIdentifier",
    "Path or function name not provided in path, e.g. /api/run/messages/list",
  );
}

function tsOf(body: unknown): Ts {
  const { ts } = (body ?? {}) as { ts?: unknown };
  if (typeof ts !== "string") throw badRequest("query_at_ts needs `ts` as query_ts gave it.");
  try {
    return decodeTs(ts);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}
