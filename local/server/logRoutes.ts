/** The CLI reads functions' log lines here: `npx convex dev`, `npx convex logs`. */
import type { AdminKey } from "./adminKey.js";
import type { FunctionLogs } from "./functionLogs.js";
import { badRequest, type Routes } from "./http.js";

export function logRoutes(logs: FunctionLogs, adminKey: AdminKey): Routes {
  return {
    "GET /api/stream_function_logs": ({ url, authorization, signal }) => {
      adminKey.require(authorization);
      const cursor = Number(url.searchParams.get("cursor") ?? "0");
      if (!Number.isFinite(cursor)) throw badRequest("`cursor` must be a number.");
      return logs.read(cursor, signal);
    },
  };
}
