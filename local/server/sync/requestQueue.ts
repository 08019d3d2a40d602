/**
 * One client's requests: mutations one at a time in the order they came, actions beside each other.
 *
 * When the connection is lost, the running mutation goes on, and later ones are dropped: the client sends them again
 * over its next connection, in order.
 */
import { PlatformError } from "../../functions/errors.js";
import type { FunctionResult, Identity } from "../../functions/types.js";
import type { Call, Calls } from "../calls.js";
import { MAX_QUEUED_MUTATIONS, MAX_RUNNING_ACTIONS } from "../limits.js";
import { encodeTs } from "../timestamps.js";
import type { FunctionRequest, PlainMessage } from "./messages.js";
import type { MutationLedger, MutationOutcome } from "./mutationLedger.js";

export interface RequestQueueOptions {
  calls: Calls;
  ledger: MutationLedger;
  reply: (message: PlainMessage) => void;
  /** The platform refused: the connection ends with it, and the client comes again. */
  refuse: (error: unknown) => void;
}

export class RequestQueue {
  readonly #options: RequestQueueOptions;
  #mutations: Promise<void> = Promise.resolve();
  #queuedMutations = 0;
  #runningActions = 0;
  #closed = false;

  constructor(options: RequestQueueOptions) {
    this.#options = options;
  }

  mutate(sessionId: string, request: FunctionRequest, identity: Identity): void {
    // The one that runs waits no more.
    if (this.#queuedMutations > MAX_QUEUED_MUTATIONS) throw TOO_MANY_MUTATIONS;
    this.#queuedMutations++;
    this.#mutations = this.#mutations.then(async () => {
      if (this.#closed) return;
      try {
        const { calls, ledger, reply } = this.#options;
        const session = { sessionId, requestId: request.requestId };
        const run = (): Promise<MutationOutcome> =>
          calls.mutation({ ...toCall(request, identity), session });
        const outcome = await ledger.once(session, run);
        reply(mutationResponse(request.requestId, outcome));
      } catch (error) {
        // The socket takes a moment to close. Waiting mutations must not overtake: the client sends all of it again.
        this.#closed = true;
        this.#options.refuse(error);
      } finally {
        this.#queuedMutations--;
      }
    });
  }

  act(request: FunctionRequest, identity: Identity): void {
    // As on the platform, which checks before it adds one, so that one more than the limit runs.
    if (this.#runningActions > MAX_RUNNING_ACTIONS) throw TOO_MANY_ACTIONS;
    this.#runningActions++;
    const { calls, reply, refuse } = this.#options;
    calls
      .action(toCall(request, identity))
      .then((result) => reply(actionResponse(request.requestId, result)))
      .catch(refuse)
      .finally(() => this.#runningActions--);
  }

  /** Whether a mutation is under way, with its response still to be sent. */
  get isMutating(): boolean {
    return this.#queuedMutations > 0;
  }

  close(): void {
    this.#closed = true;
  }
}

function toCall(request: FunctionRequest, identity: Identity): Call {
  const { udfPath: path, args, componentPath } = request;
  return { path, args: args[0] ?? {}, identity, componentPath };
}

function mutationResponse(requestId: number, outcome: MutationOutcome): PlainMessage {
  if (!outcome.ok) return failed("MutationResponse", requestId, outcome);
  return {
    type: "MutationResponse",
    requestId,
    success: true,
    result: outcome.value,
    ts: encodeTs(outcome.ts),
    logLines: outcome.logs,
  };
}

function actionResponse(requestId: number, result: FunctionResult): PlainMessage {
  if (!result.ok) return failed("ActionResponse", requestId, result);
  return {
    type: "ActionResponse",
    requestId,
    success: true,
    result: result.value,
    logLines: result.logs,
  };
}

function failed(
  type: "MutationResponse" | "ActionResponse",
  requestId: number,
  result: Extract<FunctionResult, { ok: false }>,
): PlainMessage {
  return {
    type,
    requestId,
    success: false,
    result: result.message,
    ...(result.data === undefined ? {} : { errorData: result.data }),
    logLines: result.logs,
  };
}

/** Of both the platform says "rate limited": the socket ends with 1013, and the client comes again (sync/src/worker.rs). */
const TOO_MANY_MUTATIONS = new PlatformError(
  429,
  "TooManyConcurrentMutations",
  `Too many concurrent mutations. Only up to ${MAX_QUEUED_MUTATIONS} pending mutations allowed on a single websocket.`,
);
const TOO_MANY_ACTIONS = new PlatformError(
  429,
  "TooManyInflightActionsForSingleClient",
  `Inflight actions overloaded for a single client, max concurrency: ${MAX_RUNNING_ACTIONS}`,
);
