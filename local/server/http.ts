/**
 * The HTTP edge, from a `Request` of the Web platform to its `Response`: routing, bodies, CORS, and errors as the
 * platform words them. It knows no route; the routes are in `*Routes.ts`. Nor does it know of ports: `nodeServer.ts`
 * does.
 */
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { PlatformError } from "../functions/errors.js";
import { MAX_BODY_BYTES } from "./limits.js";

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Headers;
  authorization: string | undefined;
  /** The parsed JSON body; `undefined` when there is none. */
  body: unknown;
  /** The part of the path that a `*` at the end of the route's path matched. */
  rest: string;
  /** Aborts when the caller has gone. */
  signal: AbortSignal;
}

/** Text is sent as text, anything else as JSON. */
export type Handler = (request: HttpRequest) => unknown;

/** A route that reads and writes bodies itself, of any kind, as streams, and says itself which origins may call. */
export interface RawRoute {
  /** `rest` is the part that a `*` at the end of the route's path matched, without the search. */
  raw(request: Request, rest: string): Response | Promise<Response>;
}

/** Keyed by `GET /path` or `ANY /path`; a path that ends in `*` takes everything below it. */
export type Routes = Record<string, Handler | RawRoute>;

export type Fetch = (request: Request) => Promise<Response>;

/** Never rejects. */
export function createFetch(routes: Routes, onCrash: (error: unknown) => void): Fetch {
  return async (request) => {
    try {
      return await answer(routes, request);
    } catch (error) {
      // A caller that left before all was sent: no fault of the backend, and the answer is not read.
      const told = request.signal.aborted ? () => {} : onCrash;
      const { status, code, message } = toPlatformError(error, told);
      return respond(request, status, { code, message });
    }
  };
}

async function answer(routes: Routes, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const { method, headers, signal } = request;
  const { route, rest } = findRoute(routes, method, url.pathname);
  if (typeof route === "object") return route.raw(request, rest);
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: cors(request) });
  if (route === undefined) throw notServed(method, url.pathname);
  const body = method === "GET" ? undefined : await readBody(request);
  const authorization = headers.get("authorization") ?? undefined;
  return respond(
    request,
    200,
    await route({ method, url, headers, authorization, body, rest, signal }),
  );
}

function findRoute(
  routes: Routes,
  method: string,
  path: string,
): { route: Handler | RawRoute | undefined; rest: string } {
  const keys = [`${method} ${path}`, `ANY ${path}`];
  for (const key of keys) {
    const exact = routes[key];
    if (exact) return { route: exact, rest: "" };
  }
  for (const [pattern, route] of Object.entries(routes)) {
    if (!pattern.endsWith("*")) continue;
    const prefix = pattern.slice(0, -1);
    const key = keys.find((candidate) => candidate.startsWith(prefix));
    if (key !== undefined) return { route, rest: key.slice(prefix.length) };
  }
  return { route: undefined, rest: "" };
}

/** Not 404: the CLI takes that for a deployment that is still coming up, and asks for a minute. */
function notServed(method: string, path: string): PlatformError {
  return new PlatformError(
    400,
    "UnsupportedByLocalBackend",
    `The local backend does not serve ${method} ${path}. The parts left out are listed in local/README.md.`,
  );
}

/** A few hundred bytes may unpack to gigabytes. */
const UNPACKED = { maxOutputLength: MAX_BODY_BYTES };
const decompress: Record<string, (data: Uint8Array) => Promise<Buffer>> = {
  br: (data) => promisify(brotliDecompress)(data, UNPACKED),
  gzip: (data) => promisify(gunzip)(data, UNPACKED),
};

async function readBody(request: Request): Promise<unknown> {
  let raw = await readBytes(request);
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null) {
    const decode = decompress[encoding];
    if (!decode) {
      throw badRequest(`Content-Encoding must be br or gzip, got "${encoding}".`);
    }
    raw = await decode(raw).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw bodyTooLarge();
      throw badRequest(`The body is not valid ${encoding}: ${String(error)}`);
    });
  }
  if (raw.length === 0) return undefined;
  try {
    return JSON.parse(raw.toString("utf8"));
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}`);
  }
}

/** The whole body, unless it is larger than the bound: then no more of it is read than that. */
export async function readBytes(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw bodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function badRequest(message: string): PlatformError {
  return new PlatformError(400, "BadRequest", message);
}

function bodyTooLarge(maxBytes = MAX_BODY_BYTES): PlatformError {
  return new PlatformError(
    413,
    "BodyTooLarge",
    `A request body may have at most ${maxBytes} bytes, unpacked.`,
  );
}

/** Pages come from other ports (Vite's, say), so every origin may call. Nothing here relies on cookies. */
export function cors({ headers }: Request): Record<string, string> {
  return {
    "Access-Control-Allow-Origin": headers.get("origin") ?? "*",
    Vary: "Origin",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers":
      headers.get("access-control-request-headers") ?? "authorization, content-type, convex-client",
    "Access-Control-Max-Age": "86400",
  };
}

function respond(request: Request, status: number, result: unknown): Response {
  const isText = typeof result === "string";
  const body = Buffer.from(isText ? result : JSON.stringify(result ?? null));
  return new Response(body, {
    status,
    headers: {
      ...cors(request),
      "Content-Type": isText ? "text/plain" : "application/json",
      "Content-Length": String(body.length),
    },
  });
}

/** An error that is not a `PlatformError` is a fault of the backend itself: logged in full, reported in short. */
export function toPlatformError(error: unknown, onCrash: (error: unknown) => void): PlatformError {
  if (error instanceof PlatformError) return error;
  onCrash(error);
  return new PlatformError(
    500,
    "InternalServerError",
    `The local backend failed: ${String(error)}`,
  );
}
