/** Random transactions and queries on a mock, whose file is the argument: prints the rows that each query gives. */
import { pathToFileURL } from "node:url";
import type * as official from "convex-test";
import {
  defineSchema,
  defineTable,
  type GenericDatabaseWriter,
  type DataModelFromSchemaDefinition,
} from "convex/server";
import { convexToJson, v, type GenericId, type Value } from "convex/values";
import { seededRandom, SEED_BYTES } from "../../local/functions/random.js";

const schema = defineSchema({
  jobs: defineTable({ a: v.any(), b: v.any(), n: v.optional(v.any()) })
    .index("by_a", ["a"])
    .index("by_a_b", ["a", "b"])
    .index("by_x", ["n.x", "b"]),
  jobs2: defineTable(v.any()).index("by_a", ["a"]),
});
const TABLES = ["jobs", "jobs2"] as const;
const VALUES: readonly Value[] = [null, true, -1.5, 0, 3, 7n, "", "a", "b", [1], { x: 1 }];
const TRANSACTIONS = 150;

/** The rows that each query of the same program gives. */
async function results({ convexTest }: typeof official): Promise<Value[][]> {
  const random = seededRandom(new Uint8Array(SEED_BYTES).fill(7));
  const below = (most: number) => Math.floor(random.next() * most);
  const one = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const t = convexTest(schema, { "/convex/_generated/api.ts": () => Promise.resolve({}) });
  const ids: Record<string, GenericId<"jobs" | "jobs2">[]> = { jobs: [], jobs2: [] };
  const all: Value[][] = [];

  const write = async (
    db: GenericDatabaseWriter<DataModelFromSchemaDefinition<typeof schema>>,
  ): Promise<void> => {
    const table = one(TABLES);
    const row = {
      ...{ a: one(VALUES), b: one(VALUES) },
      ...(below(2) === 0 ? {} : { n: { x: one(VALUES) } }),
    };
    const known = ids[table]!;
    const kind = known.length < 5 ? 0 : below(6);
    if (kind < 3) known.push(await db.insert(table, row));
    else if (kind === 3) await db.patch(table, one(known), { a: row.a });
    else if (kind === 4) await db.replace(table, one(known), row);
    else await db.delete(table, known.splice(below(known.length), 1)[0]!);
  };
  const ask = async (
    db: GenericDatabaseWriter<DataModelFromSchemaDefinition<typeof schema>>,
  ): Promise<Value[]> => {
    const order = one(["asc", "desc"] as const);
    const [low, high] = [one(VALUES), one(VALUES)];
    switch (below(6)) {
      case 0:
        return await db.query(one(TABLES)).order(order).collect();
      case 1:
        return await db
          .query(one(TABLES))
          .withIndex("by_a", (q) => q.gt("a", low).lte("a", high))
          .order(order)
          .take(5);
      case 2:
        return await db
          .query("jobs")
          .withIndex("by_a_b", (q) => q.eq("a", low).gte("b", high))
          .order(order)
          .collect();
      case 3:
        return await db
          .query("jobs")
          .withIndex("by_x", (q) => q.eq("n.x", low).lt("b", high))
          .filter((q) => q.neq(q.field("a"), null))
          .collect();
      case 4:
        return await db
          .query("jobs")
          .withIndex("by_x", (q) => q.eq("n.x", undefined))
          .order(order)
          .collect();
      default:
        return (
          await db
            .query("jobs")
            .withIndex("by_a")
            .order(order)
            .paginate({ numItems: 4, cursor: null })
        ).page;
    }
  };

  for (let i = 0; i < TRANSACTIONS; i += 1) {
    const before = structuredClone(ids);
    const fails = below(8) === 0;
    const transaction = t.run(async ({ db }) => {
      for (let writes = below(4); writes > 0; writes -= 1) await write(db);
      all.push(await ask(db));
      if (fails) throw new Error("rolled back");
    });
    await transaction.catch((error: Error) => {
      if (error.message !== "rolled back") throw error;
      Object.assign(ids, before);
    });
    await t.run(async ({ db }) => void all.push(await ask(db)));
  }
  return all.map((rows) => rows.map((row) => ({ ...(row as object), _creationTime: 0 })));
}

const [, , index = ""] = process.argv;
const mock = (await import(pathToFileURL(index).href)) as typeof official;
console.log(JSON.stringify(convexToJson(await results(mock))));
