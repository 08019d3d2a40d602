/**
 * Node's HTTP server in front of a `fetch`: turns its messages into a `Request`, and a `Response` back into them, both
 * as streams. It knows of no route.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Fetch } from "./http.js";

export function createNodeServer(fetch: Fetch, onCrash: (error: unknown) => void): Server {
  return createServer((incoming, outgoing) => {
    serve(fetch, incoming, outgoing).catch((error: unknown) => {
      // Not the caller's leaving: that needs no report.
      if (!outgoing.destroyed) onCrash(error);
      outgoing.destroy();
    });
  });
}

async function serve(
  fetch: Fetch,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  // Before the body's reader gets the error.
  incoming.on("error", () => gone.abort());
  // The unread rest of a refused body would stand before the next request of a connection that is kept.
  outgoing.on("finish", () => incoming.removeAllListeners("data").resume());
  const request = toRequest(incoming, gone.signal);
  const response = request === null ? malformed() : await fetch(request);
  await send(response, outgoing);
}

/** `null` when it is nothing that a `Request` can hold: a broken target, or a method such as TRACE. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | null {
  const { method = "GET", headers, rawHeaders } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const pairs: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at]!, rawHeaders[at + 1]!]);
  try {
    return new Request(new URL(incoming.url ?? "/", `http://${headers.host ?? "localhost"}`), {
      method,
      headers: pairs,
      signal,
      ...(hasBody && { body: bodyOf(incoming), duplex: "half" }),
    });
  } catch {
    return null;
  }
}

function malformed(): Response {
  const message = "The request line, the Host header or the method is malformed.";
  return Response.json({ code: "BadRequest", message }, { status: 400 });
}

/** Takes a chunk from the connection only when the body is read. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let pulled: (() => void) | null = null;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pulled === null) follow(controller);
        return new Promise<void>((resolve) => {
          pulled = resolve;
          incoming.resume();
        });
      },
      cancel: () => void incoming.removeAllListeners("end"),
    },
    { highWaterMark: 0 },
  );

  function follow(controller: ReadableStreamDefaultController<Uint8Array>): void {
    incoming.on("data", (chunk: Buffer) => {
      incoming.pause();
      controller.enqueue(chunk);
      pulled?.();
    });
    incoming.on("end", () => controller.close());
    incoming.on("error", (error) => controller.error(error));
    incoming.on("close", () => pulled?.());
  }
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const cookies = response.headers.getSetCookie().flatMap((cookie) => ["set-cookie", cookie]);
  const headers = [...response.headers].filter(([name]) => name !== "set-cookie").flat();
  if (!outgoing.destroyed) outgoing.writeHead(response.status, [...headers, ...cookies]);
  for await (const chunk of response.body ?? []) {
    // Leaving the loop cancels the body, and so notifies its producer.
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await drained(outgoing);
  }
  outgoing.end();
}

/** Or gone: the next check tells. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
