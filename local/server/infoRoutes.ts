/** The backend's public facts about itself. */
import { version } from "convex";
import type { Routes } from "./http.js";

export function infoRoutes(): Routes {
  return {
    "GET /": () =>
      "This is Conveyor's local backend for Convex. Point a Convex client or the CLI at this URL.",
    "GET /version": () => version,
    "GET /instance_name": () => "conveyor-local",
    "GET /instance_version": () => version,
  };
}
