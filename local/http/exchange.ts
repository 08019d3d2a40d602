/**
 * One HTTP request and its response, as system calls that a handler makes through `functions/jsSyscalls.ts`: bodies part
 * by part in base64, both as streams. It knows nothing of routes or of functions.
 */
import type { JSONValue } from "convex/values";
import type { RequestHead } from "../functions/jsSyscalls.js";
import type { AsyncSyscalls } from "../functions/syscalls.js";
import { MAX_RESPONSE_BYTES, RESPONSE_BUFFER_BYTES } from "./limits.js";

interface ResponseHead {
  status: number;
  headers: [string, string][];
  hasBody: boolean;
}

/** The platform hands no body to these, though one was sent (local_backend/src/http_actions.rs). */
const WITHOUT_BODY = new Set(["GET", "HEAD", "OPTIONS"]);

export class Exchange {
  readonly head: RequestHead;
  readonly operations: AsyncSyscalls;
  /** Resolves with the response when its head is there. */
  readonly responded: Promise<Response>;
  #respond!: (response: Response) => void;
  #hasResponded = false;
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #wanted: (() => void) | null = null;
  #sentBytes = 0;
  readonly #gone: Promise<boolean>;
  #leave!: (left: boolean) => void;

  /**
   * `url` and `headers` are the handler's view; `onTooLarge` is called with the error of a response that is cut off.
   */
  constructor(
    private readonly request: Request,
    url: URL,
    headers: Headers,
    private readonly onTooLarge: (message: string) => void,
  ) {
    const reader = WITHOUT_BODY.has(request.method) ? undefined : request.body?.getReader();
    this.head = {
      url: url.href,
      method: request.method,
      headers: [...headers],
      hasBody: reader !== undefined,
    };
    this.responded = new Promise((resolve) => (this.#respond = resolve));
    this.#gone = new Promise((resolve) => (this.#leave = resolve));
    if (request.signal.aborted) this.#leave(true);
    request.signal.addEventListener("abort", () => {
      this.#leave(true);
      this.#wanted?.();
    });
    this.operations = {
      "http/read": async () => {
        const next = await reader?.read();
        return next?.value === undefined ? null : Buffer.from(next.value).toString("base64");
      },
      "http/gone": () => this.#gone,
      "http/respond": async (head: ResponseHead) => this.#start(head),
      "http/write": ({ chunk }: { chunk: string }) => this.#write(Buffer.from(chunk, "base64")),
    };
  }

  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  /** Code that waits for the client to leave learns that it did not. */
  settle(): void {
    this.#leave(false);
  }

  /** Nothing more comes. */
  end(): void {
    this.#closeBody((body) => body.close());
  }

  /** The response breaks off: its head is with the client already. */
  breakOff(error: unknown): void {
    this.#closeBody((body) => body.error(error));
  }

  #start({ status, headers, hasBody }: ResponseHead): JSONValue {
    this.#hasResponded = true;
    const body =
      hasBody && this.request.method !== "HEAD"
        ? new ReadableStream<Uint8Array>(
            {
              start: (controller) => void (this.#body = controller),
              pull: () => this.#wanted?.(),
              cancel: () => {
                this.#body = null;
                this.#leave(true);
                this.#wanted?.();
              },
            },
            new ByteLengthQueuingStrategy({ highWaterMark: RESPONSE_BUFFER_BYTES }),
          )
        : null;
    this.#respond(new Response(body, { status, headers }));
    return null;
  }

  /** Resolves when there is room for more: false when the reader has gone. */
  async #write(chunk: Buffer): Promise<boolean> {
    const room = MAX_RESPONSE_BYTES - this.#sentBytes;
    if (chunk.length > room) {
      this.onTooLarge("HttpResponseTooLarge: HTTP actions support responses up to 20 MiB");
    }
    this.#sentBytes += chunk.length;
    this.#body?.enqueue(new Uint8Array(chunk.subarray(0, room)));
    if (chunk.length > room) this.#closeBody((body) => body.close());
    while (
      this.#body !== null &&
      (this.#body.desiredSize ?? 0) <= 0 &&
      !this.request.signal.aborted
    ) {
      await new Promise<void>((resolve) => (this.#wanted = resolve));
    }
    return this.#body !== null && !this.request.signal.aborted;
  }

  #closeBody(close: (body: ReadableStreamDefaultController<Uint8Array>) => void): void {
    const body = this.#body;
    this.#body = null;
    if (body !== null) close(body);
  }
}
