/**
 * The wire: the official clients. Nothing of the protocol's rules is here.
 *
 * Calls go over HTTP and not over the socket. A socket's mutations wait for one another, so that a beat would stand
 * behind a large `complete`; one that conflicts too often does not fail there but closes the socket, to be sent again
 * for ever, and would never come back to be taken apart; and each writes a row of its own to be exactly once, which
 * the session's call counter makes needless. One socket follows `hasWork`. What is canceled has another, from the first job on
 * that is held for a while: a socket is told of all that one commit has changed at once, so that a `hasWork` that takes long
 * would keep back the word that a job is canceled (440 ms on average with 20 queues, up to 1.3 s).
 */
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import type { Hello, Waiting } from "../shared/index.js";
import { BEAT_TIMEOUT_MS, CALL_TIMEOUT_MS } from "./limits.js";
import { Unanswered, type Transport } from "./transport.js";
import type { WorkerApi } from "./types.js";

export interface Connection {
  url: string;
  token: string;
  session: string;
  name: string;
  api: WorkerApi;
  queues: string[];
  /** What else decides which jobs it may get. */
  labels?: string[];
  groups?: string[];
  maxCost?: number;
}

export function connect(connection: Connection): Transport {
  const { url, token, session, name, api, maxCost } = connection;
  const caller = { token, session };
  const offer = offerOf(connection);
  /** The session's row, as claims are answered: reports name it, so that they need not look for it. */
  let holder: { holder?: string } = {};
  const noting = <Reply extends { holder?: string }>(reply: Reply): Reply => {
    if (reply.holder !== undefined) holder = { holder: reply.holder };
    return reply;
  };
  const calls = httpClient(url, CALL_TIMEOUT_MS);
  const beats = httpClient(url, BEAT_TIMEOUT_MS);
  const newSocket = () => new ConvexClient(url, { logger: false });
  const socket = newSocket();
  let cancelSocket: ConvexClient | undefined;
  const beside = { skipQueue: true };
  return {
    hello: async () =>
      (await calls.query(api.watch, {
        token,
        call: { kind: "hello", queues: offer.queues },
      })) as Hello,
    claim: async (n, claim) =>
      noting(await calls.mutation(api.claim, { ...caller, name, n, ...offer, ...claim }, beside)),
    complete: async (n, finished, { claim, ...options } = {}) =>
      noting(
        await calls.mutation(
          api.complete,
          {
            ...{ ...caller, n, finished, ...options },
            ...(claim === undefined ? {} : { claim: { ...offer, ...claim } }),
          },
          beside,
        ),
      ),
    completeLater: async (finished) => {
      const finishedLater = { ...caller, finished: [finished], later: true };
      await calls.mutation(api.complete, finishedLater, beside);
    },
    heartbeat: async (leases, leaving) => {
      const last = leaving === undefined ? {} : { leaving };
      return (await beats.mutation(api.heartbeat, { ...caller, leases, ...last }, beside)).answers;
    },
    report: async (said) =>
      (await calls.mutation(api.report, { ...caller, ...holder, ...said }, beside)).answers,
    watchHasWork: (onValue, onError) => {
      // One for each queue: a job that comes or goes reruns that of its own queue alone, however many a worker serves. And
      // arguments that are the same for the whole fleet: then its subscriptions share one cached answer.
      const budget = maxCost === undefined ? {} : { maxCost };
      const hasWork = (queue: string, from: { cursor?: string }) => ({
        ...{ kind: "hasWork", ...offer, ...budget, queues: [queue], naming: true, ...from },
      });
      const ends = new Map<string, () => void>();
      const follow = (queue: string, from: { cursor?: string }): void => {
        const before = ends.get(queue);
        const end = socket.onUpdate(
          api.watch,
          { token, call: hasWork(queue, from) },
          (waiting: boolean | Waiting) => onValue(queue, waiting),
          (error) => {
            if (from.cursor !== undefined) follow(queue, {});
            onError(queue, error);
          },
        );
        ends.set(queue, end);
        before?.();
      };
      for (const queue of offer.queues) follow(queue, {});
      return {
        goOn: (queue, cursor) => follow(queue, { cursor }),
        end: () => ends.forEach((end) => end()),
      };
    },
    watchCancellations: (onValue, onError) => {
      cancelSocket ??= newSocket();
      return cancelSocket.onUpdate(
        api.watch,
        { token, call: { kind: "cancellations", session } },
        onValue,
        onError,
      );
    },
    close: async () => {
      await Promise.all([socket.close(), cancelSocket?.close()]);
    },
  };
}

/** Which jobs it may get, the same in every claim. */
function offerOf({ queues, labels = [], groups = [] }: Connection) {
  return {
    queues,
    ...(labels.length === 0 ? {} : { labels }),
    ...(groups.length === 0 ? {} : { groups }),
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
      response = await fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      // Read here, since a connection can break in the middle of an answer.
      body = await response.text();
    } catch (error) {
      throw new Unanswered(reasonOf(error), { cause: error });
    }
    const { status } = response;
    const unsure =
      status === 408 || status === 429 || (status >= 500 && status !== FUNCTION_FAILED);
    if (unsure && !body.includes(CONFLICT)) {
      throw new Unanswered(`HTTP ${status}: ${body.slice(0, 200)}`);
    }
    if (response.ok && !body.startsWith("{")) {
      throw new Unanswered(`An answer that is not Convex's: ${body.slice(0, 200)}`);
    }
    return new Response(body, { status, headers: response.headers });
  };
}

/** "fetch failed" says nothing; its cause says which host refused. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== ""
    ? error.cause.message
    : error.message;
}
