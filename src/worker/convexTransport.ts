/**
 * The wire: the official clients. Nothing of the protocol's rules is here.
 *
 * Calls go over HTTP and not over the socket. A socket's mutations wait for one another, so that a beat would stand
 * behind a large `complete`; one that conflicts too often does not fail there but closes the socket, to be sent again
 * for ever, and would never come back to be taken apart; and each writes a row of its own to be exactly once, which
 * the session's call counter makes needless. One socket follows `hasWork`. Cancellations have another, from the first
 * job on that is held for a while: a socket receives all changes of one commit at once, so that a slow `hasWork` would
 * delay the news of a cancellation (440 ms on average with 20 queues, up to 1.3 s).
 */
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { atMost, systemClock } from "./clock.js";
import {
  BEAT_TIMEOUT_MS,
  CALL_TIMEOUT_MS,
  LINE_BYTES_PER_MS,
  SOCKET_LOST_MS,
  SOCKETS_CLOSE_MS,
} from "./limits.js";
import { Unanswered, type Transport } from "./transport.js";
import { transportOver, type Connection } from "./wire.js";

/** Connects to a deployment. With `polls` there is no socket: nothing is followed, and the worker asks by itself. */
export function connect({
  url: given,
  polls = false,
  ...connection
}: Connection & { url: string; polls?: boolean }): Transport {
  // The clients put a path behind it, and the deployment knows none that begins with two slashes.
  const url = given.replace(/\/+$/, "");
  const calls = httpClient(url, CALL_TIMEOUT_MS);
  const beats = httpClient(url, BEAT_TIMEOUT_MS);
  // They carry no change that a page could lose, and the listener for the warning would stay with the page.
  const newSocket = () => new ConvexClient(url, { logger: false, unsavedChangesWarning: false });
  let socket: ConvexClient | undefined;
  let cancelSocket: ConvexClient | undefined;
  const beside = { skipQueue: true };
  return transportOver(connection, {
    query: (query, args) => calls.query(query, args),
    mutation: (mutation, args) => calls.mutation(mutation, args, beside),
    beat: (mutation, args) => beats.mutation(mutation, args, beside),
    follow: (query, args, onValue, onError) => {
      if (polls) return () => {};
      const isOfCancellations = args.call.kind === "cancellations";
      if (isOfCancellations) cancelSocket ??= newSocket();
      else socket ??= newSocket();
      const over = (isOfCancellations ? cancelSocket : socket)!;
      const unfollow = over.onUpdate(query, args, onValue, onError);
      const unwatch = onceLost(over, () => onError(new Unanswered("no WebSocket")));
      return () => {
        unwatch();
        unfollow();
      };
    },
    close: async () => {
      const closed = Promise.all([socket?.close(), cancelSocket?.close()]);
      await atMost(systemClock, SOCKETS_CLOSE_MS, closed);
    },
  });
}

/**
 * Calls back each time that the socket has been gone for long. The client tells its subscriptions nothing of that, and all
 * of them their answers anew when there is a socket again.
 */
function onceLost(socket: ConvexClient, lost: () => void): () => void {
  let cancel: (() => void) | undefined;
  const unsubscribe = socket.subscribeToConnectionState(({ isWebSocketConnected }) => {
    if (!isWebSocketConnected) return void (cancel ??= systemClock.after(SOCKET_LOST_MS, lost));
    cancel?.();
    cancel = undefined;
  });
  return () => {
    unsubscribe();
    cancel?.();
  };
}

function httpClient(url: string, timeoutMs: number): ConvexHttpClient {
  return new ConvexHttpClient(url, { logger: false, fetch: answeredFetch(timeoutMs) });
}

/** The status of an answer that reports a function's own error. */
const FUNCTION_FAILED = 560;
/** The platform's code for a transaction that conflicted five times: it is known not to have happened. */
const CONFLICT = "OptimisticConcurrencyControlFailure";

/** A fetch that tells an answer from none: no connection, no time left, or a server that could not say. */
function answeredFetch(timeoutMs: number): typeof fetch {
  return async (input, init) => {
    let response: Response;
    let body: string;
    try {
      const bytes = typeof init?.body === "string" ? init.body.length : 0;
      const signal = AbortSignal.timeout(timeoutMs + Math.ceil(bytes / LINE_BYTES_PER_MS));
      response = await fetch(input, { ...init, signal });
      // Read here, since a connection can break in the middle of an answer.
      body = await response.text();
    } catch (error) {
      throw new Unanswered(reasonOf(error), { cause: error });
    }
    const { status } = response;
    const unsure =
      status === 408 || status === 429 || (status >= 500 && status !== FUNCTION_FAILED);
    const refusal = `HTTP ${status}${body === "" ? "" : `: ${body.slice(0, 500)}`}`;
    if (unsure && !body.includes(CONFLICT)) throw new Unanswered(refusal);
    if (!response.ok && status !== FUNCTION_FAILED) throw new Error(refusal);
    if (!isAnswer(body)) {
      throw new Unanswered(`An answer that is not Convex's: ${body.slice(0, 200)}`);
    }
    return new Response(body, { status, headers: response.headers });
  };
}

/** A proxy may answer in JSON of its own, or cut an answer off in the middle. */
function isAnswer(body: string): boolean {
  try {
    const { status } = JSON.parse(body) as { status?: unknown };
    return status === "success" || status === "error";
  } catch {
    return false;
  }
}

/** OpenSSL's words, of several lines, for an answer in plain HTTP. */
const NO_TLS = /wrong version number|packet length too long/;

/** "fetch failed" says nothing; its cause says which host refused. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } =
    error.cause instanceof Error && error.cause.message !== "" ? error.cause : error;
  if (!NO_TLS.test(message)) return message;
  return "no TLS is spoken there: `url` begins with https://, and this deployment's with http://";
}
