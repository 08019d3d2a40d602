/** A claim reads the index on a snapshot, which may be old: it shows rows that have left the queue's range since. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalQueryGeneric,
  type DataModelFromSchemaDefinition,
} from "convex/server";
import { v } from "convex/values";
import { expect, test } from "vitest";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const schema = defineSchema({
  letters: defineTable({
    status: v.string(),
    mail: v.object({ approved: v.boolean(), grams: v.optional(v.number()) }),
  }).index("approved", ["mail.approved", "status", "mail.grams"]),
});
const conveyor = new Conveyor<DataModelFromSchemaDefinition<typeof schema>>(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const named = anyApi as any;
const letters = conveyor.tableQueue("letters", {
  functions: () => named.letters,
  index: "approved",
  range: (q) =>
    q.eq("mail.approved", true).eq("status", "new").gt("mail.grams", 10).lte("mail.grams", 20),
  columns: { state: "status" },
  states: { pending: "new", running: "busy", succeeded: "sent", failed: "lost" },
});

test("a row that waits, and has left the range, is not taken; one in it is", async () => {
  const ids: string[] = [];
  // As an older snapshot shows them: all in the range.
  const claimable = internalQueryGeneric({
    args: { max: v.number() },
    handler: () => ({ ids, bytes: 0, all: true }),
  });
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => ({
      ...conveyor.workerApi({ queues: [letters] }),
      createToken: conveyor.tokenApi().create,
    }),
    "/convex/letters.ts": async () => ({ ...letters, claimable }),
  });
  register(t);
  await t.run(async (ctx) => {
    const insert = async (approved: boolean, grams?: number) => {
      const mail = { approved, ...(grams === undefined ? {} : { grams }) };
      ids.push(await ctx.db.insert("letters", { status: "new", mail }));
    };
    await insert(false, 15);
    await insert(true, 10);
    await insert(true, 11);
    await insert(true, 20);
    await insert(true, 21);
    await insert(true);
  });
  const { token } = await t.mutation(named.app.createToken, { name: "w" });
  const caller = { token, sessionKey: "s", name: "s", callSeq: 1 };
  const { jobs } = await t.mutation(named.app.claim, { ...caller, queues: ["letters"], max: 10 });
  expect(jobs.map(({ payload }: any) => payload.mail.grams)).toEqual([11, 20]);
});
