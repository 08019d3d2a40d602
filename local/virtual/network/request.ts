/** One HTTP request over a link: there, carried out, and back. Bodies travel as a whole. */
import type { Link } from "./link.js";

interface Sent {
  url: URL;
  method: string;
  headers: Headers;
  body: string | Uint8Array<ArrayBuffer> | null;
  signal: AbortSignal | null;
}

interface Received {
  status: number;
  statusText: string;
  headers: Headers;
  body: string | Uint8Array<ArrayBuffer> | null;
}

export async function request(
  link: Link,
  input: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  const sent = await readRequest(input, init);
  const received = await exchange(link, sent);
  return new Response(received.body, {
    status: received.status,
    statusText: received.statusText,
    headers: received.headers,
  });
}

/** Settles in the program that asked, and nowhere when that is gone. */
function exchange(link: Link, sent: Sent): Promise<Received> {
  const gone = new AbortController();
  return new Promise((resolve, reject) => {
    const { signal } = sent;
    let over = false;
    const end = (settle: () => void): void => {
      if (over) return;
      over = true;
      signal?.removeEventListener("abort", giveUp);
      settle();
    };
    const giveUp = (): void =>
      end(() => {
        link.travel(() => gone.abort());
        reject(signal!.reason as Error);
      });
    if (signal?.aborted) return reject(signal.reason as Error);
    signal?.addEventListener("abort", giveUp);

    const fail = (code: string, why: string): void =>
      link.arrive(() => end(() => reject(networkError(code, why))));
    const answer = (received: Received): void =>
      link.travel(() => {
        link.note("reply", `${sent.method} ${sent.url.pathname} ${received.status}`);
        if (link.faults.down === "silent") return;
        if (link.happens(link.faults.loseReplies))
          return fail("ECONNRESET", "The connection broke.");
        link.arrive(() => end(() => resolve(received)));
      });
    send(link, sent, gone.signal, { fail, answer });
  });
}

interface Ends {
  fail: (code: string, why: string) => void;
  answer: (received: Received) => void;
}

function send(link: Link, sent: Sent, gone: AbortSignal, { fail, answer }: Ends): void {
  const { faults, network } = link;
  const arrive = (): void => {
    link.note("request", `${sent.method} ${sent.url.pathname}`);
    const server = network.server(sent.url);
    if (server === undefined) {
      return link.travel(() =>
        fail("ECONNREFUSED", `No server answers for ${sent.url.host} in this world.`),
      );
    }
    const served = server.fetch(
      new Request(sent.url, {
        method: sent.method,
        headers: sent.headers,
        body: sent.body,
        signal: gone,
      }),
    );
    served.then(
      async (response) => answer(await readResponse(response)),
      // The server went away while it worked on it.
      () => link.travel(() => fail("ECONNRESET", "The connection broke.")),
    );
  };
  if (faults.down === "refused") {
    return link.travel(() =>
      fail("ECONNREFUSED", `The network refuses to go to ${sent.url.host}.`),
    );
  }
  if (faults.down === "silent" || link.happens(faults.loseRequests)) return;
  link.travel(arrive);
  if (link.happens(faults.repeatRequests)) link.travel(arrive);
}

async function readRequest(input: string | URL | Request, init: RequestInit): Promise<Sent> {
  const from = input instanceof Request ? input : null;
  const method = (init.method ?? from?.method ?? "GET").toUpperCase();
  const url = new URL(input instanceof Request ? input.url : input);
  const headers = new Headers(init.headers ?? from?.headers);
  const given = init.body ?? from?.body ?? null;
  const signal = init.signal ?? from?.signal ?? null;
  if (given === null || typeof given === "string") {
    if (given !== null && !headers.has("content-type")) {
      headers.set("content-type", "text/plain;charset=UTF-8");
    }
    return { url, method, headers, body: given, signal };
  }
  // Forms, blobs and streams: Node reads them to their end before anything else happens.
  const whole = new Response(given as BodyInit);
  const type = whole.headers.get("content-type");
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  const body = new Uint8Array(await whole.arrayBuffer());
  return { url, method, headers, body, signal };
}

async function readResponse(response: Response): Promise<Received> {
  const { status, statusText, headers } = response;
  if (response.body === null) return { status, statusText, headers, body: null };
  const body = new Uint8Array(await response.arrayBuffer());
  return { status, statusText, headers, body };
}

/** As Node's fetch fails. */
function networkError(code: string, why: string): TypeError {
  const cause = Object.assign(new Error(`${code}: ${why}`), { code });
  return new TypeError("fetch failed", { cause });
}
