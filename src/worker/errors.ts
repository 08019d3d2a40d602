/** The meaning of a failed call for the worker. Pure. */
import {
  COMPONENT_VERSION,
  errorText,
  conveyorError,
  functionNotFound,
  isConveyorError,
  type ConveyorErrorCode,
} from "../shared/index.js";
import { Unanswered } from "./transport.js";

export type Failure =
  /** It is unknown whether it took effect: repeat the very same call. */
  | { kind: "unanswered"; message: string }
  /** It certainly did not take effect: its parts may be tried differently. */
  | { kind: "rejected"; message: string }
  /** This worker is not wanted, or wrongly made: it stops at once with this error. */
  | { kind: "fatal"; error: Error }
  /** A queue or group that it may not serve: it claims nothing more, brings its work to an end, and stops with this error. */
  | { kind: "unserved"; error: Error };

const FATAL: readonly ConveyorErrorCode[] = [
  "tokenUnknown",
  "tokenRevoked",
  "tokenForeign",
  "sessionForbidden",
  "staleCall",
];
const UNSERVED: readonly ConveyorErrorCode[] = ["unknownQueue", "queueForbidden", "groupForbidden"];

export function judge(error: unknown, everAnswered: boolean): Failure {
  const message = messageOf(error);
  if (error instanceof Unanswered) return { kind: "unanswered", message };
  if (isConveyorError(error)) {
    if (FATAL.includes(error.data.code)) return { kind: "fatal", error: readable(error) };
    if (UNSERVED.includes(error.data.code)) return { kind: "unserved", error: readable(error) };
  }
  // Once it has worked, a missing function is a deploy on its way or a slip that the next deploy mends: the work in
  // hand is worth more than a quick exit.
  const missing = isConveyorError(error) ? null : functionNotFound(error);
  if (missing !== null && !everAnswered) {
    return { kind: "fatal", error: functionMissing(missing || "that this worker calls") };
  }
  return { kind: "rejected", message };
}

export function messageOf(error: unknown): string {
  if (isConveyorError(error)) return error.data.message;
  return errorText(error);
}

/** A `ConvexError` shows its data as JSON; a stack trace of a stopped worker should show the way out. */
function readable(error: Error & { data: { message: string } }): Error {
  error.message = error.data.message;
  return error;
}

function functionMissing(name: string): Error {
  return workerApiMissing(
    `The deployment has no public function ${name}. The module that the worker has as \`api\` exports no worker functions, or ` +
      `functions of another release than this worker's, convex-conveyor ${COMPONENT_VERSION}. In a module of the app, write ` +
      "`export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [...] })`, " +
      `deploy it with convex-conveyor ${COMPONENT_VERSION} or later, and give the worker that module as \`api\`.`,
    { worker: COMPONENT_VERSION },
  );
}

export function workerApiMissing(message: string, versions: Record<string, string>): Error {
  return readable(conveyorError("workerApiMissing", message, versions));
}

export function handlerMissing(queue: string, handlers: readonly string[]): Error {
  return readable(
    conveyorError(
      "handlerMissing",
      `The worker is to serve the queue "${queue}" and has no handler for it; it has: ${handlers.join(", ") || "none"}. ` +
        "Add one to `handlers`, or leave the queue out of `queues`.",
      { queue, handlers: [...handlers] },
    ),
  );
}

/** In most programs it comes from the environment, where it was forgotten. */
export function notGiven(option: "url" | "token", what: string): Error {
  return readable(
    conveyorError(
      "invalidArgument",
      `The worker's \`${option}\` is missing. It must be ${what}. Where it comes from the environment, set the variable.`,
      { argument: option },
    ),
  );
}

export function noFunction(queue: string, handler: unknown): Error {
  const got = handler === null ? "null" : typeof handler;
  return readable(
    conveyorError(
      "invalidArgument",
      `The worker's handler of the queue "${queue}" must be a function; got ${got}. ` +
        `Write \`handlers: { ${queue}: async ({ payload }) => … }\`, or \`${queue}: { batch, handler }\`.`,
      { argument: "handlers", queue, got },
    ),
  );
}

/** The deployment's other address answers HTTP actions alone, and a worker would be refused there for ever. */
export function siteUrl(url: string): Error {
  return readable(
    conveyorError(
      "invalidArgument",
      `The worker's \`url\` must be where functions are called, which ends with .convex.cloud; ${url} is where HTTP actions ` +
        "are. Give it the deployment's `CONVEX_URL`, not its `CONVEX_SITE_URL`.",
      { argument: "url", got: url },
    ),
  );
}

/** A call has the worker's token, which plain HTTP would show to every machine on its way. */
export function plainHttp(url: string): Error {
  return readable(
    conveyorError(
      "invalidArgument",
      `The worker's \`url\` must begin with https:// at .convex.cloud, since each call carries the token; got ${url}. ` +
        `Write ${url.replace(/^http:/i, "https:")}.`,
      { argument: "url", got: url },
    ),
  );
}

export function noUrl(url: string): Error {
  return readable(
    conveyorError(
      "invalidArgument",
      `The worker's \`url\` must be an address with https:// or http://, as in https://happy-otter-123.convex.cloud; got ${url}.`,
      { argument: "url", got: url },
    ),
  );
}

export function noHandlers(): Error {
  return readable(
    conveyorError(
      "handlerMissing",
      "The worker has nothing to serve. Give `handlers` a function for each queue that it is to work on.",
      { handlers: [] },
    ),
  );
}
