/**
 * Answers an HTTP request by the routers that apps and components define in `http.ts`: finds the router, runs the
 * handler as an action, and turns a failure into the platform's response.
 */
import { FunctionError } from "../functions/errors.js";
import { ActionHost } from "../functions/actionHost.js";
import { runInTime } from "../functions/actions.js";
import { actionSyscalls, type Calls } from "../functions/actionSyscalls.js";
import type { Target } from "../functions/lookup.js";
import { commonMetadata } from "../functions/metadataSyscalls.js";
import { completionOf, resultOf } from "../functions/outcomes.js";
import type { Request as Caller, Services } from "../functions/scope.js";
import type { Deployment, FunctionResult, LogLine } from "../functions/types.js";
import { Exchange } from "./exchange.js";
import { routeHttp, type Routed } from "./routing.js";

interface HttpCaller extends Caller {
  /** It receives no error's text. */
  redact: boolean;
}

export interface HttpActionRun {
  response: Promise<Response>;
  /** Resolves when the handler has ended, which may be after the response's head, or its client, is gone. */
  ended: Promise<unknown>;
}

export function runHttpAction(
  services: Services,
  calls: Calls,
  request: Request,
  url: URL,
  caller: HttpCaller,
): HttpActionRun {
  const deployment = services.deployment();
  const routed = routeHttp(deployment, request.method, url.pathname);
  if (routed === null) {
    const text = "This Convex deployment does not have HTTP actions enabled.";
    return { response: Promise.resolve(notFound(text)), ended: Promise.resolve() };
  }
  const ran = new HttpAction(services, calls, deployment, routed, request, url, caller);
  const ended = ran.run();
  const response = Promise.race([ran.exchange.responded, ended]);
  ended.catch(() => {});
  return { response, ended: ended.catch(() => {}) };
}

const REQUEST_ID = "convex-request-id";

class HttpAction {
  readonly exchange: Exchange;
  readonly #target: Target;
  readonly #logs: LogLine[] = [];

  constructor(
    private readonly services: Services,
    private readonly calls: Calls,
    private readonly deployment: Deployment,
    private readonly routed: Routed,
    request: Request,
    url: URL,
    private readonly caller: HttpCaller,
  ) {
    this.#target = routerOf(deployment, routed, request.method);
    // As the platform, for apps that log it or pass it on.
    const headers = new Headers(request.headers);
    if (!headers.has(REQUEST_ID)) headers.set(REQUEST_ID, caller.requestId);
    const onTooLarge = (message: string) => this.#log("ERROR", message);
    this.exchange = new Exchange(request, url, headers, onTooLarge);
  }

  /** Resolves with the response to give when the handler has not given one itself. */
  async run(): Promise<Response> {
    const { services, exchange } = this;
    const { requestId, redact } = this.caller;
    const complete = completionOf(services, this.#target.address, "HttpAction", requestId, false);
    try {
      const result = await resultOf(() => this.#invoke(), this.#logs);
      complete({ logs: this.#logs, error: result.ok ? undefined : result.message });
      if (result.ok) exchange.end();
      else exchange.breakOff(new FunctionError(result.message));
      return result.ok
        ? notFound("No matching routes found")
        : serverError(result, requestId, redact);
    } catch (error) {
      complete({ logs: this.#logs, error: (error as FunctionError).message, thrown: error });
      exchange.breakOff(error);
      throw error;
    }
  }

  #invoke() {
    const { services, deployment, exchange, caller } = this;
    const target = this.#target;
    const operations = {
      ...actionSyscalls(services, this.calls, target, caller),
      ...commonMetadata(services, caller, target, deployment),
    };
    const write = (line: LogLine) => this.#write(line);
    const host = new HttpActionHost(exchange, services, target, operations, write);
    const args = { head: { ...exchange.head }, path: this.routed.path };
    return services.permits.v8Actions.run(() => runInTime(services, target, host, args, caller));
  }

  #log(level: LogLine["level"], message: string): void {
    const at = this.services.env.now();
    this.#write({ level, text: `[${level}] '${message}'`, at, ...this.#target.address });
  }

  #write(line: LogLine): void {
    this.#logs.push(line);
    this.services.events.log(line);
  }
}

/** That of an action, and the request: to read it, and to answer it, is no operation of the handler's. */
class HttpActionHost extends ActionHost {
  constructor(
    private readonly exchange: Exchange,
    ...action: ConstructorParameters<typeof ActionHost>
  ) {
    super(...action);
  }

  override asyncSyscall(operation: string, args: string): Promise<string> {
    const run = this.exchange.operations[operation];
    if (run === undefined) return super.asyncSyscall(operation, args);
    return run(JSON.parse(args)).then((answer) => JSON.stringify(answer));
  }

  override settle(): Promise<boolean> {
    this.exchange.settle();
    return super.settle();
  }
}

/** The router is called like a function of its module; it is named, in logs and statistics, by the route. */
function routerOf(deployment: Deployment, { namespace, route }: Routed, method: string): Target {
  const path = `${method === "HEAD" ? "GET" : method} ${route}`;
  return {
    address: { namespace, path },
    instance: deployment.instances.get(namespace)!,
    analyzed: {
      name: "default",
      udfType: "Action",
      visibility: "public",
      args: JSON.stringify({ type: "any" }),
      returns: "null",
    },
    module: "http.js",
  };
}

function notFound(text: string): Response {
  return new Response(text, {
    status: 404,
    headers: { "Content-Type": "text/plain; charset=utf-8" },
  });
}

/** The platform's report of a failure (application/src/redaction.rs: to_http_response_parts). */
function serverError(
  result: Extract<FunctionResult, { ok: false }>,
  requestId: string,
  redact: boolean,
): Response {
  const [message] = result.message.split("\n    at ");
  const code = `[Request ID: ${requestId}] Server Error`;
  return Response.json(
    {
      ...(redact ? { code } : { code: `${code}: ${message}`, trace: result.message }),
      ...(result.data === undefined ? {} : { data: result.data }),
    },
    { status: 500 },
  );
}
