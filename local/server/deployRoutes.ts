/** The official CLI's calls: push, environment variables, URLs. For the admin only. */
import type { EnvironmentChange } from "../push/environment.js";
import type { Pusher } from "../push/pusher.js";
import type { AdminKey } from "./adminKey.js";
import { badRequest, type Handler, type Routes } from "./http.js";

export function deployRoutes(
  pusher: Pusher,
  adminKey: AdminKey,
  urls: { cloud: string; site: string },
): Routes {
  const routes: Record<string, Handler> = {
    "GET /api/v1/get_canonical_urls": () => ({
      convexCloudUrl: urls.cloud,
      convexSiteUrl: urls.site,
    }),
    "POST /api/get_config_hashes": () => pusher.configHashes(),
    "POST /api/deploy2/start_push": ({ body }) => pusher.start(body),
    "POST /api/deploy2/evaluate_push": ({ body }) => pusher.evaluate(body),
    "POST /api/deploy2/wait_for_schema": ({ body }) => pusher.waitForSchema(body),
    "POST /api/deploy2/finish_push": ({ body }) => pusher.finish(body),
    // Spans of the CLI's work, for the platform's own tracing.
    "POST /api/deploy2/report_push_completed": () => ({}),
    "POST /api/update_environment_variables": async ({ body }) => {
      await pusher.changeEnvironment(parseChanges(body));
      return {};
    },
  };
  return Object.fromEntries(
    Object.entries(routes).map(([route, handler]) => [route, adminOnly(handler, adminKey)]),
  );
}

function adminOnly(handler: Handler, adminKey: AdminKey): Handler {
  return (request) => {
    adminKey.require(request.authorization);
    return handler(request);
  };
}

function parseChanges(body: unknown): EnvironmentChange[] {
  const { changes } = (body ?? {}) as { changes?: unknown };
  if (!Array.isArray(changes)) throw badRequest("`changes` must be an array of { name, value }.");
  return changes.map((change: unknown) => {
    const { name, value } = (change ?? {}) as Record<string, unknown>;
    if (typeof name !== "string" || (typeof value !== "string" && value !== null)) {
      throw badRequest("Each change must be { name: string, value: string | null }.");
    }
    return { name, value };
  });
}
