import { describe, expect, test } from "vitest";
import type { ComponentInstance, Deployment, HttpDefinition } from "../functions/types.js";
import { routeHttp } from "./routing.js";

type Http = Partial<HttpDefinition>;

/** Components by namespace; children are mounted under the last part of it. */
function deploymentOf(http: Record<string, Http | null>): Deployment {
  const instances = new Map<string, ComponentInstance>();
  for (const [namespace, definition] of Object.entries(http)) {
    const children = Object.keys(http)
      .filter((other) => other !== "" && other.split("/").slice(0, -1).join("/") === namespace)
      .map((child) => [child.split("/").at(-1)!, child] as const);
    instances.set(namespace, {
      namespace,
      definition: {
        path: namespace,
        modules: new Map(),
        functions: new Map(),
        tables: [],
        schemaValidation: false,
        ...(definition === null
          ? {}
          : { http: { routes: null, prefix: null, mounts: [], ...definition } }),
      },
      children: new Map(children),
      env: new Map(),
    });
  }
  return { instances };
}

const get = (...paths: string[]) => paths.map((path) => ({ path, method: "GET" }));

describe("routes of one router", () => {
  const deployment = deploymentOf({ "": { routes: get("/exact", "/a/*", "/a/b/*", "/*") } });

  test.each([
    ["/exact", "/exact"],
    ["/exact/", "/*"],
    ["/a/x", "/a/*"],
    ["/a/b/x", "/a/b/*"],
    ["/a/b/", "/a/b/*"],
    ["/a/b", "/a/*"],
    ["/a", "/*"],
    ["/", "/*"],
  ])("%s goes to %s: exact, or else the longest prefix", (path, route) => {
    expect(routeHttp(deployment, "GET", path)).toEqual({ namespace: "", path, route });
  });

  test("HEAD goes where GET goes, another method does not", () => {
    expect(routeHttp(deployment, "HEAD", "/exact")?.route).toBe("/exact");
    // The router says itself that it has no such route.
    expect(routeHttp(deployment, "POST", "/exact")).toEqual({
      namespace: "",
      path: "/exact",
      route: "/exact",
    });
  });
});

test("without a router anywhere there is no component to ask", () => {
  expect(routeHttp(deploymentOf({ "": null }), "GET", "/")).toBeNull();
});

describe("components", () => {
  const deployment = deploymentOf({
    "": {
      routes: get("/rl/exact", "/rl/inner/*", "/own"),
      mounts: [
        { prefix: "/rl/", child: "rl" },
        { prefix: "/rl/deep/", child: "deep" },
      ],
    },
    rl: { routes: get("/index.html", "/exact"), mounts: [{ prefix: "/sub/", child: "sub" }] },
    "rl/sub": { routes: get("/*") },
    deep: { routes: get("/x") },
  });

  test.each([
    ["/rl/index.html", "rl", "/index.html"],
    ["/rl/exact", "", "/rl/exact"],
    ["/rl/inner/x", "", "/rl/inner/x"],
    ["/rl/deep/x", "deep", "/x"],
    ["/rl/sub/y/z", "rl/sub", "/y/z"],
    ["/rl/none", "rl", "/none"],
    ["/own", "", "/own"],
  ])("%s is %s's, as %s", (path, namespace, seen) => {
    expect(routeHttp(deployment, "GET", path)).toMatchObject({ namespace, path: seen });
  });

  test("a component that serves nothing is not asked for a path that nothing matches", () => {
    const mounted = deploymentOf({ "": { mounts: [{ prefix: "/c/", child: "c" }] }, c: null });
    expect(routeHttp(mounted, "GET", "/c/x")).toBeNull();
    expect(routeHttp(mounted, "GET", "/d")).toBeNull();
  });
});

describe("the app's prefix", () => {
  const deployment = deploymentOf({
    "": {
      prefix: "/api/",
      routes: get("/hello", "/v1/*"),
      mounts: [{ prefix: "/c/", child: "c" }],
    },
    c: { routes: get("/hello") },
  });

  test("stands before its own routes, which are defined without it", () => {
    expect(routeHttp(deployment, "GET", "/api/hello")).toMatchObject({ path: "/hello" });
    expect(routeHttp(deployment, "GET", "/api/v1/x")).toMatchObject({ path: "/v1/x" });
    expect(routeHttp(deployment, "GET", "/hello")).toBeNull();
  });

  test("does not stand before its components' routes", () => {
    expect(routeHttp(deployment, "GET", "/c/hello")).toMatchObject({
      namespace: "c",
      path: "/hello",
    });
    expect(routeHttp(deployment, "GET", "/api/c/hello")).toMatchObject({ namespace: "" });
  });
});
