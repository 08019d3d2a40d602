/**
 * `convex-conveyor/test`: mounts the component in an app's `convex-test` suite, and lets its queues run there.
 * @module
 */
import type { TestConvex } from "convex-test";
import type { GenericSchema, SchemaDefinition } from "convex/server";
import schema from "./component/schema.js";
import { modules } from "./testing/modules.js";
import { pass, settle } from "./testing/time.js";
import { work } from "./testing/work.js";

export { pass, settle, type SettleOptions, type TimeOptions } from "./testing/time.js";
export { work, type WorkedAttempt, type WorkOptions } from "./testing/work.js";

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
export default { register, pass, settle, work, schema, modules };
