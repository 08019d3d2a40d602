/**
 * `convex-conveyor/test`: mounts the component in an app's `convex-test` suite.
 *
 * It ships as source and is compiled by the suite's own bundler, since only that can expand `import.meta.glob`.
 * @module
 */
/// <reference types="vite/client" />
import type { TestConvex } from "convex-test";
import type { GenericSchema, SchemaDefinition } from "convex/server";
import schema from "./component/schema.js";

const modules = import.meta.glob(["./component/**/*.ts", "!./component/**/*.test.ts"]);

/**
 * Mounts the component in a suite, so that queues work in it as in a deployment.
 *
 * @param t What `convexTest(schema, modules)` returned.
 * @param name As in `app.use(conveyor, { name })`.
 * @default name "conveyor"
 * @example
 * import conveyor from "convex-conveyor/test";
 *
 * const t = convexTest(schema, modules);
 * conveyor.register(t);
 */
export function register(
  t: TestConvex<SchemaDefinition<GenericSchema, boolean>>,
  name: string = "conveyor",
): void {
  t.registerComponent(name, schema, modules);
}

/** For `conveyor.register(t)`, and the component's schema and modules for suites that register by hand. */
export default { register, schema, modules };
