/** A deployment reached over the network by the official HTTP client, be it the local backend or a real one. */
import { ConvexHttpClient } from "convex/browser";
import { getFunctionName, type FunctionReference } from "convex/server";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import type { Backend } from "../backend.js";
import type { Server, Target } from "./target.js";

export class WireTarget implements Target {
  constructor(
    private readonly at: Server,
    private readonly local?: Backend,
  ) {}

  query(fn: FunctionReference<"query", any>, args: any): Promise<any> {
    return isInternal(fn) ? this.#asAdmin(fn, args) : this.#client().query(fn, args);
  }

  mutation(fn: FunctionReference<"mutation", any>, args: any): Promise<any> {
    return isInternal(fn) ? this.#asAdmin(fn, args) : this.#client().mutation(fn, args);
  }

  action(fn: FunctionReference<"action", any>, args: any): Promise<any> {
    return isInternal(fn) ? this.#asAdmin(fn, args) : this.#client().action(fn, args);
  }

  server(): Server {
    return this.at;
  }

  backend(): Backend {
    if (this.local === undefined) throw new Error("Only the local backend can be looked into.");
    return this.local;
  }

  /** A client of its own for each call: one sends its mutations one after the other. */
  #client(): ConvexHttpClient {
    return new ConvexHttpClient(this.at.url, { logger: false });
  }

  async #asAdmin(fn: FunctionReference<any, any>, args: Record<string, Value>): Promise<any> {
    const reply = await post(this.at, "/api/function", {
      body: {
        path: getFunctionName(fn),
        args: convexToJson(args),
        format: "convex_encoded_json",
      },
      authorization: `Convex ${this.at.adminKey}`,
    });
    const { status, value, errorMessage } = reply.body as Record<string, unknown>;
    if (status !== "success") throw new Error((errorMessage as string) ?? JSON.stringify(reply));
    return jsonToConvex(value as JSONValue);
  }
}

/** Functions under these names are internal; a reference does not say so itself. */
const INTERNAL = new Set([
  "rows:nested",
  "rows:nestedLook",
  "runtime:hidden",
  "calls:deep",
  "calls:wrongReturn",
  "stamps:passOn",
]);

function isInternal(fn: FunctionReference<any, any>): boolean {
  return INTERNAL.has(getFunctionName(fn));
}

export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
}

/** One HTTP request, and its answer as it came. */
export async function post(
  { url }: Pick<Server, "url">,
  path: string,
  options: { body?: unknown; authorization?: string; method?: string; type?: string } = {},
): Promise<Reply> {
  const { body, authorization, method = "POST", type = "application/json" } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      "Content-Type": type,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
    ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
