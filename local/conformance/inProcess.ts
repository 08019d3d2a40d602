/** `convex-test` as a target: a fresh one for each case. */
import { convexTest } from "convex-test";
import type { FunctionReference } from "convex/server";
import childSchema from "./app/child/schema.js";
import grandchildSchema from "./app/child/grandchild/schema.js";
import schema from "./app/convex/schema.js";
import type { Target } from "./target.js";

const app = import.meta.glob("./app/convex/**/*.{ts,js}");
const child = import.meta.glob(["./app/child/**/*.ts", "!./app/child/grandchild/**"]);
const grandchild = import.meta.glob("./app/child/grandchild/**/*.ts");

export function inProcess(): Target {
  const t = convexTest(schema, app);
  for (const mount of ["child", "second"]) {
    t.registerComponent(mount, childSchema, child);
    t.registerComponent(`${mount}/grandchild`, grandchildSchema, grandchild);
  }
  const nothing = (what: string) => () => {
    throw new Error(`convex-test has no ${what}: say so in the case.`);
  };
  return {
    query: (fn, args) => t.query(fn as FunctionReference<"query", any>, args),
    mutation: (fn, args) => t.mutation(fn as FunctionReference<"mutation", any>, args),
    action: (fn, args) => t.action(fn as FunctionReference<"action", any>, args),
    server: nothing("server"),
    backend: nothing("backend to inspect"),
  };
}
