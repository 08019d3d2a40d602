/**
 * Where HTTP actions are served: below `/http/` beside the API, and on the site's own port below `/`. The caller's
 * identity, its URL, and the platform's time limit for an answer; the answer is `httpAction.ts`'s.
 */
import type { Environment } from "../environment.js";
import type { FunctionRunner, Identity } from "../functions/types.js";
import type { RawRoute, Routes } from "../server/http.js";
import { HTTP_TIMEOUT_MS } from "./limits.js";

export interface SiteOptions {
  env: Environment;
  runner: FunctionRunner;
  /** Never refuses: a header that is no token of ours may be one that the app itself checks. */
  identify: (request: Request) => Promise<Identity>;
  /** As in production: errors' texts are for the admin. Defaults to false. */
  redact?: boolean;
}

/** On the port of the API. */
export function httpActionRoutes(options: SiteOptions): Routes {
  const route = siteRoute(options);
  return { "ANY /http": route, "ANY /http/*": route };
}

/** On the site's port, where every path is the app's but one. */
export function siteRoutes(options: SiteOptions, version: () => string): Routes {
  return { "GET /version": version, "ANY /*": siteRoute(options) };
}

/** TRACE and CONNECT are none (`ROUTABLE_HTTP_METHODS` of `convex/server`). */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]);

function siteRoute({ env, runner, identify, redact: redacts = false }: SiteOptions): RawRoute {
  return {
    async raw(request, rest) {
      if (!METHODS.has(request.method)) return new Response(null, { status: 405 });
      const identity = await identify(request);
      const requestId = Buffer.from(env.randomBytes(8)).toString("hex");
      const redact = redacts && identity.kind !== "admin";
      const url = siteUrl(request, rest);
      const answer = runner.http(request, { url, identity, requestId, redact });
      return within(env, HTTP_TIMEOUT_MS, answer);
    },
  };
}

/** As the client wrote it, also where a proxy that speaks TLS stands before this server. */
function siteUrl(request: Request, rest: string): URL {
  const { host, search } = new URL(request.url);
  const { headers } = request;
  const scheme =
    headers.get("x-forwarded-proto") ?? forwardedProto(headers.get("forwarded")) ?? "http";
  const origin = `${/^[a-z]+$/.test(scheme) ? scheme : "http"}://${host}`;
  return new URL(`${origin}/${rest}${search}`);
}

/** `Forwarded: proto=https;host=…, …`: the first hop's. */
function forwardedProto(forwarded: string | null): string | undefined {
  const [first = ""] = (forwarded ?? "").split(",");
  return /(?:^|;)\s*proto\s*=\s*"?([a-z]+)"?/i.exec(first)?.[1]?.toLowerCase();
}

/** The handler goes on: only its client is not kept waiting. */
async function within(env: Environment, ms: number, answer: Promise<Response>): Promise<Response> {
  let expire!: (response: Response) => void;
  const expired = new Promise<Response>((resolve) => (expire = resolve));
  const timer = env.timer(ms, () => expire(new Response(null, { status: 408 })));
  try {
    return await Promise.race([answer, expired]);
  } finally {
    timer.cancel();
  }
}
