/**
 * The component that answers an HTTP request, and the path that its router sees. Pure: it knows routes and mounts, and
 * runs nothing.
 *
 * An exact route wins; then the longest prefix, be it a route's or a mounted component's, and a component's own router
 * then sees the rest of the path. The app's `httpPrefix` stands before its own routes and not before its components'.
 */
import type { ComponentInstance, Deployment, HttpRoute } from "../functions/types.js";

export interface Routed {
  namespace: string;
  /** The path for the router of that component. */
  path: string;
  /** The route as it is logged: `/messages`, `/files/*`; the path itself where no route matches. */
  route: string;
}

/** `null` when there is no router that could answer, not even by saying that it has no such route. */
export function routeHttp(deployment: Deployment, method: string, path: string): Routed | null {
  // HEAD is answered by GET's handler.
  const wanted = method === "HEAD" ? "GET" : method;
  let namespace = "";
  let left = path;
  for (;;) {
    const instance = deployment.instances.get(namespace);
    if (instance === undefined) return null;
    const step = stepInto(instance, wanted, left);
    if (step === null || step.kind === "routed") return step && { namespace, ...step.routed };
    namespace = step.namespace;
    left = step.path;
  }
}

type Step =
  | { kind: "routed"; routed: Omit<Routed, "namespace"> }
  | { kind: "mounted"; namespace: string; path: string };

function stepInto(
  { definition, children }: ComponentInstance,
  method: string,
  path: string,
): Step | null {
  const { routes = null, prefix = null, mounts = [] } = definition.http ?? {};
  const own = ownPath(path, prefix);
  const mine = (routes ?? []).filter((route) => route.method === method);
  if (own !== null && mine.some((route) => route.path === own)) {
    return { kind: "routed", routed: { path: own, route: own } };
  }
  const matching = own === null ? [] : mine.filter((route) => matches(route, own));
  const route = longest(matching, (candidate) => candidate.path.length - "*".length);
  const mount = longest(
    mounts.filter((candidate) => path.startsWith(candidate.prefix)),
    (candidate) => candidate.prefix.length,
  );
  // The rests of the path are compared: the route's path has lost the app's prefix, the mount's has not.
  const leftByRoute = route === null ? Infinity : own!.length - (route.path.length - "*".length);
  if (mount !== null && path.length - mount.prefix.length <= leftByRoute) {
    return {
      kind: "mounted",
      namespace: children.get(mount.child)!,
      path: `/${path.slice(mount.prefix.length)}`,
    };
  }
  // Without a match too: the router itself says that it has no such route.
  if (own === null || routes === null) return null;
  return { kind: "routed", routed: { path: own, route: route?.path ?? own } };
}

function ownPath(path: string, prefix: string | null): string | null {
  if (prefix === null) return path;
  return path.startsWith(prefix) ? `/${path.slice(prefix.length)}` : null;
}

/** Routes by prefix are written with a star at the end, as `getRoutes()` lists them. */
function matches(route: HttpRoute, path: string): boolean {
  return route.path.endsWith("*") && path.startsWith(route.path.slice(0, -1));
}

function longest<T>(candidates: readonly T[], length: (candidate: T) => number): T | null {
  return candidates.reduce<T | null>(
    (best, candidate) => (best === null || length(candidate) > length(best) ? candidate : best),
    null,
  );
}
