/**
 * The HTTP edge: routing, bodies, CORS, and errors as the platform words them. It knows no route; those are in
 * `*Routes.ts`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { PlatformError } from "../functions/errors.js";
import { MAX_BODY_BYTES } from "./limits.js";

export interface HttpRequest {
  method: string;
  url: URL;
  authorization: string | undefined;
  /** The parsed JSON body; `undefined` when there is none. */
  body: unknown;
  /** What a `*` at the end of the route's path matched. */
  rest: string;
  /** Aborts when the caller has gone. */
  signal: AbortSignal;
}

/** Text is sent as text, anything else as JSON. */
export type Handler = (request: HttpRequest) => unknown;

/** Keyed by `GET /path`; a path that ends in `*` takes everything below it. */
export type Routes = Record<string, Handler>;

export function createHttpServer(routes: Routes, onCrash: (error: unknown) => void): Server {
  return createServer((request, response) => {
    answer(routes, request, response).catch((error: unknown) => {
      const platform = toPlatformError(error, onCrash);
      send(response, platform.status, { code: platform.code, message: platform.message });
    });
  });
}

async function answer(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  allowOrigin(request, response);
  const method = request.method ?? "GET";
  if (method === "OPTIONS") {
    response.writeHead(204).end();
    return;
  }
  const url = parseUrl(request.url ?? "/");
  const { handler, rest } = findRoute(routes, method, url.pathname);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const body = method === "GET" ? undefined : await readBody(request);
  const { authorization } = request.headers;
  const result = await handler({ method, url, authorization, body, rest, signal: gone.signal });
  send(response, 200, result);
}

function parseUrl(target: string): URL {
  try {
    return new URL(target, "http://localhost");
  } catch {
    throw badRequest(`${JSON.stringify(target)} is not a path.`);
  }
}

function findRoute(
  routes: Routes,
  method: string,
  path: string,
): { handler: Handler; rest: string } {
  const exact = routes[`${method} ${path}`];
  if (exact) return { handler: exact, rest: "" };
  for (const [route, handler] of Object.entries(routes)) {
    const prefix = route.endsWith("*") ? route.slice(0, -1) : null;
    if (prefix !== null && `${method} ${path}`.startsWith(prefix)) {
      return { handler, rest: `${method} ${path}`.slice(prefix.length) };
    }
  }
  // Not 404: the CLI takes that for a deployment that is still coming up, and asks for a minute.
  throw new PlatformError(
    400,
    "UnsupportedByLocalBackend",
    `The local backend does not serve ${method} ${path}. What it leaves out is listed in local/README.md.`,
  );
}

/** A few hundred bytes may unpack to gigabytes. */
const UNPACKED = { maxOutputLength: MAX_BODY_BYTES };
const decompress: Record<string, (data: Buffer) => Promise<Buffer>> = {
  br: (data) => promisify(brotliDecompress)(data, UNPACKED),
  gzip: (data) => promisify(gunzip)(data, UNPACKED),
};

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw bodyTooLarge();
    chunks.push(chunk);
  }
  let raw: Buffer = Buffer.concat(chunks);
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined) {
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

export function badRequest(message: string): PlatformError {
  return new PlatformError(400, "BadRequest", message);
}

function bodyTooLarge(): PlatformError {
  return new PlatformError(
    413,
    "BodyTooLarge",
    `A request body may have at most ${MAX_BODY_BYTES} bytes, unpacked.`,
  );
}

/** Pages come from other ports (Vite's, say), so every origin may call. Nothing here relies on cookies. */
function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Origin", request.headers.origin ?? "*");
  response.setHeader("Vary", "Origin");
  response.setHeader("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  response.setHeader(
    "Access-Control-Allow-Headers",
    request.headers["access-control-request-headers"] ??
      "authorization, content-type, convex-client",
  );
  response.setHeader("Access-Control-Max-Age", "86400");
}

function send(response: ServerResponse, status: number, result: unknown): void {
  if (response.writableEnded || response.destroyed) return;
  const isText = typeof result === "string";
  response.writeHead(status, { "Content-Type": isText ? "text/plain" : "application/json" });
  response.end(isText ? result : JSON.stringify(result ?? null));
}

/** What is not a `PlatformError` is a fault of the backend itself: logged in full, told in short. */
export function toPlatformError(error: unknown, onCrash: (error: unknown) => void): PlatformError {
  if (error instanceof PlatformError) return error;
  onCrash(error);
  return new PlatformError(
    500,
    "InternalServerError",
    `The local backend failed: ${String(error)}`,
  );
}
