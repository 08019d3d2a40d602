/** The counters over HTTP, for the admin. The path is this backend's own: the platform has none like it. */
import type { AdminKey } from "../server/adminKey.js";
import type { Routes } from "../server/http.js";
import type { Stats } from "./stats.js";

export function statsRoutes(stats: Stats, adminKey: AdminKey): Routes {
  return {
    "GET /api/local/stats": ({ authorization }) => {
      adminKey.require(authorization);
      return stats.snapshot();
    },
    /** Answers with the counters until then. */
    "POST /api/local/stats/reset": ({ authorization }) => {
      adminKey.require(authorization);
      const counted = stats.snapshot();
      stats.reset();
      return counted;
    },
  };
}
