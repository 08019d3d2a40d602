/** What anyone may ask the backend about itself, and what it does not serve and says so. */
import { version } from "convex";
import { PlatformError } from "../functions/errors.js";
import type { Routes } from "./http.js";

export function infoRoutes(): Routes {
  const httpActions = (): never => {
    throw new PlatformError(
      501,
      "HttpActionsUnsupported",
      "The local backend does not run HTTP actions (http.ts) yet. Queries, mutations and actions it does run.",
    );
  };
  return {
    "GET /": () =>
      "This is Conveyor's local backend for Convex. Point a Convex client or the CLI at this URL.",
    "GET /version": () => version,
    "GET /instance_name": () => "conveyor-local",
    "GET /instance_version": () => version,
    "GET /http/*": httpActions,
    "POST /http/*": httpActions,
  };
}
