/**
 * System calls that take or give objects of the Web platform (requests, responses, files), sent to the host in JSON.
 *
 * `convex/server` makes these beside the sandbox's code, with its objects in hand; the host may be on the other side of
 * a wall that only text crosses. So bytes go in base64, a part at a time. Two of them must answer at once, since
 * `convex/server` does not wait: `runRequest` waits for the work that they leave running.
 */
import type { JSONValue } from "convex/values";

/** An asynchronous system call, from JSON to JSON. */
export type CallHost = (operation: string, args: JSONValue) => Promise<unknown>;

/** An HTTP request's line and headers; its body is asked for. */
export interface RequestHead {
  url: string;
  method: string;
  headers: [name: string, value: string][];
  hasBody: boolean;
}

/** A router as `httpRouter()` of `convex/server` makes it, as far as it is called here. */
export interface Router {
  lookup(path: string, method: string): unknown;
  runRequest(request: string, path: string): Promise<string>;
}

export function jsSyscall(
  operation: string,
  args: Record<string, unknown>,
  call: CallHost,
): unknown {
  switch (operation) {
    case "requestFromConvexJson":
      return toRequest(args["convexJson"] as RequestHead, call);
    case "convexJsonFromResponse":
      return { sending: send(requireResponse(args["response"]), call) };
    case "storage/storeBlob":
      return storeBlob(args, call);
    case "storage/getBlob":
      return getBlob(args, call);
    default:
      throw new Error(`Unknown operation "${operation}": the local backend has none of that name.`);
  }
}

/**
 * Lets a router answer a request. Resolves when the response is sent with all of its body: `true`, in JSON, or `false`
 * when the router has no such route.
 */
export async function runRequest(router: Router, head: RequestHead, path: string): Promise<string> {
  if (router.lookup(path, head.method) === null) return "false";
  const answer = JSON.parse(await router.runRequest(JSON.stringify(head), path)) as {
    sending: number;
  };
  await sent(answer.sending);
  return "true";
}

function toRequest({ url, method, headers, hasBody }: RequestHead, call: CallHost): Request {
  const gone = new AbortController();
  call("http/gone", {}).then(
    (left) => left === true && gone.abort(),
    () => {},
  );
  return new Request(url, {
    method,
    headers,
    signal: gone.signal,
    // Not in every version's types: a body that is read while the response is written.
    ...(hasBody && { body: bodyFrom(call), duplex: "half" }),
  });
}

function bodyFrom(call: CallHost): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await call("http/read", {});
        if (typeof chunk === "string") controller.enqueue(fromBase64(chunk));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function requireResponse(response: unknown): Response {
  if (response instanceof Response) return response;
  // The platform's words.
  throw new Error("HTTP actions must return a Response");
}

/** Responses on their way, by number, until a call waits for them. */
const sending = new Map<number, Promise<void>>();
let lastSending = 0;

function send(response: Response, call: CallHost): number {
  const done = write(response, call);
  // It is waited for once the router has returned.
  done.catch(() => {});
  sending.set(++lastSending, done);
  return lastSending;
}

async function sent(number: number): Promise<void> {
  const done = sending.get(number);
  sending.delete(number);
  await done;
}

async function write(response: Response, call: CallHost): Promise<void> {
  const { status, headers, body } = response;
  await call("http/respond", { status, headers: [...headers], hasBody: body !== null });
  const reader = body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) return;
    const wanted = await call("http/write", { chunk: toBase64(next.value) });
    if (wanted !== true) return void reader?.cancel().catch(() => {});
  }
}

async function storeBlob(args: Record<string, unknown>, call: CallHost): Promise<unknown> {
  const { blob, options } = args as { blob: unknown; options?: { sha256?: string } };
  if (!(blob instanceof Blob)) {
    throw new Error(
      "storage.store() takes a Blob. Of a Request or a Response, `await response.blob()` gives one.",
    );
  }
  return call("1.0/storageStore", {
    blob: toBase64(new Uint8Array(await blob.arrayBuffer())),
    contentType: blob.type,
    ...(options?.sha256 === undefined ? {} : { sha256: options.sha256 }),
  });
}

async function getBlob({ storageId }: Record<string, unknown>, call: CallHost): Promise<unknown> {
  const file = (await call("1.0/storageGet", { storageId: storageId as string })) as {
    blob: string;
    contentType: string | null;
  } | null;
  if (file === null) return null;
  return new Blob([fromBase64(file.blob)], { type: file.contentType ?? "" });
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "base64"));
}
