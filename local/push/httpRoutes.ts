/**
 * Reads the routes that a pushed `http.ts` declares, and refuses an export that is no router, in the platform's words.
 */
import type { HttpDefinition, HttpRoute } from "../functions/types.js";
import type { Definition } from "./definitions.js";
import { describe, failure } from "./failures.js";

export const HTTP_MODULE = "http.js";

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

/** `exports` are the module's, `null` when there is none. */
export function httpRoutesOf(exports: Record<string, unknown>, what: string): HttpRoute[] {
  if (!("default" in exports)) {
    throw refusal(what, "`convex/http.js` must have a default export of a Router.");
  }
  const router = exports["default"] as { isRouter?: unknown; getRoutes?: unknown } | null;
  if (router?.isRouter !== true) {
    throw refusal(what, "The default export of `convex/http.js` is not a Router.");
  }
  let listed: unknown;
  try {
    listed = (router as { getRoutes(): unknown }).getRoutes();
  } catch (error) {
    throw refusal(what, describe(error));
  }
  if (!Array.isArray(listed)) throw malformed(what, "return value is not an array");
  return listed.map((entry: unknown, at) => routeOf(entry, at, what));
}

function routeOf(entry: unknown, at: number, what: string): HttpRoute {
  const [path, method, handler] = (Array.isArray(entry) ? entry : []) as unknown[];
  if (typeof path !== "string") throw malformed(what, `arr[${at}][0] is not a string`);
  if (typeof method !== "string" || !METHODS.includes(method)) {
    throw malformed(
      what,
      `'${String(method)}' is not a routable method (one of ${METHODS.join(", ")})`,
    );
  }
  if (typeof handler !== "function") throw malformed(what, `arr[${at}][2] is not an HttpAction`);
  return { path, method };
}

function malformed(what: string, why: string): Error {
  return refusal(
    what,
    "The `getRoutes()` method of Router did not return the expected type. `getRoutes()` should be a function " +
      `returning an array of entries of the form [path: string, method: string, handler: HttpAction] (${why})`,
  );
}

function refusal(what: string, why: string): Error {
  return failure("InvalidModules", `Failed to analyze ${what}: ${why}`);
}

const MOUNT = /^_reference\/childComponent\/([^/]+)$/;

/** `undefined` when neither the component nor anything mounted in it serves HTTP. */
export function httpOf(
  definition: Definition,
  routes: HttpRoute[] | null,
): HttpDefinition | undefined {
  const mounts = Object.entries(definition.httpMounts).map(([prefix, reference]) => {
    const child = MOUNT.exec(reference)?.[1];
    if (child !== undefined) return { prefix, child };
    throw failure(
      "InvalidDefinition",
      `${definition.path || "The app"} serves "${reference}" at "${prefix}", which is not one of its components.`,
    );
  });
  if (routes === null && mounts.length === 0) return undefined;
  const { definitionType } = definition;
  const prefix = definitionType.type === "app" ? (definitionType.httpPrefix ?? null) : null;
  return { routes, prefix, mounts };
}
