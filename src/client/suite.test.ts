/** A suite for tests that write an app of their own: one module on `convex-test`, with the real component. */
import { convexTest, type TestConvex } from "convex-test";
import {
  componentsGeneric,
  defineSchema,
  type GenericSchema,
  type SchemaDefinition,
} from "convex/server";
import { expect, test } from "vitest";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

/** `modules`: beside `app`, by name. */
export function suiteOf<Schema extends GenericSchema = Record<never, never>>(
  app: object,
  schema: SchemaDefinition<Schema, true> = defineSchema({}) as never,
  modules: Record<string, object> = {},
): TestConvex<SchemaDefinition<Schema, true>> {
  const all = Object.entries({ app, ...modules }).map(
    ([name, module]) => [`/convex/${name}.ts`, async () => module] as const,
  );
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    ...Object.fromEntries(all),
  });
  register(t as never);
  return t;
}

test("the suite of an app mounts the component", async () => {
  const { conveyor } = componentsGeneric() as unknown as { conveyor: ComponentApi };
  const t = suiteOf({});
  expect(await t.run((ctx) => new Conveyor(conveyor).queues(ctx as never))).toEqual({
    more: false,
    queues: [],
  });
});
