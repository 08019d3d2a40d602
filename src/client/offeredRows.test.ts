/** What a claim reads of the app's own tables before it takes a row: nothing for strangers, and little for all tables together. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  type DataModelFromSchemaDefinition,
} from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { OFFERED_MAX_BYTES, OFFERED_ROWS_MAX } from "../shared/index.js";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const TABLES = ["ants", "bees", "cats"] as const;
const columns = { text: v.string(), status: v.string() };
const schema = defineSchema({
  ants: defineTable(columns).index("status", ["status"]),
  bees: defineTable(columns).index("status", ["status"]),
  cats: defineTable(columns).index("status", ["status"]),
});
type DataModel = DataModelFromSchemaDefinition<typeof schema>;

const conveyor = new Conveyor<DataModel>(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const named = anyApi as any;
/** Reads of each table's index, and of rows by id. */
let looks: string[] = [];
const queueOf = (table: (typeof TABLES)[number]) =>
  conveyor.tableQueue(table, {
    functions: () => named[table],
    index: "status",
    range: (q) => {
      looks.push(table);
      return q.eq("status", "new");
    },
    columns: { state: "status" },
    states: { pending: "new", running: "busy", succeeded: "done", failed: "bad" },
  });
const queues = TABLES.map(queueOf);
const functions = {
  ...conveyor.workerApi({ queues }),
  createToken: conveyor.tokenApi().create,
};

async function setup() {
  const modules = Object.fromEntries(
    queues.map(({ name, claimable, take, record }) => [
      `/convex/${name}.ts`,
      async () => ({ claimable, take, record }),
    ]),
  );
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
    ...modules,
  });
  register(t);
  const tokenFor = async (scope: object): Promise<string> =>
    (await t.mutation(named.app.createToken, { name: "w", ...scope })).token;
  const insert = async (table: string, count: number, bytes: number) =>
    await t.run(async (ctx) => {
      for (let at = 0; at < count; at += 1)
        await ctx.db.insert(table as "ants", { text: "x".repeat(bytes), status: "new" });
    });
  let n = 0;
  const claim = async (token: string, asked: readonly string[], max = 64, sessionKey = "s") =>
    (
      await t.mutation(named.app.claim, {
        ...{ token, sessionKey, name: sessionKey, callSeq: (n += 1), queues: asked, max },
      })
    ).jobs as { id: string; queue: string }[];
  return { t, tokenFor, insert, claim };
}

beforeEach(() => void (looks = []));
afterEach(() => void vi.restoreAllMocks());

describe("a call with a token that is not known", () => {
  test("reads no row: neither a claim, nor the claim of a completion, nor a beat", async () => {
    const { t, insert, claim } = await setup();
    await insert("ants", 3, 10);
    const token = `cvy_${"0".repeat(8)}_${"0".repeat(64)}`;
    const caller = { token, sessionKey: "s" };
    await expect(claim(token, ["ants"])).rejects.toMatchObject({ data: { code: "tokenForeign" } });
    const asks = { queues: ["ants"], max: 64 };
    const completed = t.mutation(named.app.complete, {
      ...caller,
      callSeq: 1,
      finished: [],
      claim: asks,
    });
    await expect(completed).rejects.toMatchObject({ data: { code: "tokenForeign" } });
    // Nor a job: an id that is none would be refused by the list of statuses.
    const leases = [{ id: "none", attempt: 1 }];
    const beaten = t.mutation(named.app.heartbeat, { ...caller, leases });
    await expect(beaten).rejects.toMatchObject({ data: { code: "tokenForeign" } });
    expect(looks).toEqual([]);
  });
});

describe("a token's claim", () => {
  test("reads no row of a queue that is not the token's, and none for a token of groups", async () => {
    const { tokenFor, insert, claim } = await setup();
    await insert("ants", 3, 10);
    await insert("bees", 3, 10);
    const bees = await tokenFor({ queues: ["bees"] });
    await expect(claim(bees, ["ants", "bees"])).rejects.toMatchObject({
      data: { code: "queueForbidden" },
    });
    expect(looks).not.toContain("ants");
    looks = [];
    expect(await claim(await tokenFor({ groups: ["org"] }), ["ants"])).toEqual([]);
    expect(looks).toEqual([]);
  });

  test.each([Number.NaN, 0.5, -1])("for %d jobs reads no row, and is refused", async (max) => {
    const { tokenFor, insert, claim } = await setup();
    await insert("ants", 3, 10);
    await expect(claim(await tokenFor({}), ["ants"], max)).rejects.toMatchObject({
      data: { code: "invalidArgument" },
    });
    expect(looks).toEqual([]);
  });

  test("reads so many bytes of rows, and takes the rest with later calls", async () => {
    const { tokenFor, insert, claim } = await setup();
    const [count, bytes] = [20, OFFERED_MAX_BYTES / 8];
    await insert("ants", count, bytes);
    const token = await tokenFor({});
    const first = await claim(token, ["ants"]);
    expect(first.length).toBeGreaterThanOrEqual(8);
    expect(first.length).toBeLessThanOrEqual(9);
    const taken = new Set(first.map(({ id }) => id));
    for (let call = 0; call < 3; call += 1)
      for (const { id } of await claim(token, ["ants"])) taken.add(id);
    expect(taken.size).toBe(count);
  });

  test("reads so many rows of all tables together, and each table has its turn", async () => {
    const { tokenFor, insert, claim } = await setup();
    for (const table of TABLES) await insert(table, OFFERED_ROWS_MAX, 10);
    const token = await tokenFor({});
    const random = vi.spyOn(Math, "random");
    const firsts: (string | undefined)[] = [];
    for (const [turn, session] of ["a", "b", "c"].entries()) {
      random.mockReturnValue((turn + 0.5) / TABLES.length);
      looks = [];
      const [first] = await claim(token, TABLES, 64, session);
      firsts.push(first?.queue);
      expect(new Set(looks).size, "two tables have as many rows as a claim looks up").toBe(2);
      expect(looks, "the range is that of the index, and of the rows found").toHaveLength(4);
    }
    expect(firsts).toEqual([...TABLES]);
    looks = [];
    const twice = claim(token, [...TABLES, ...TABLES], 1, "d");
    await expect(twice).rejects.toMatchObject({ data: { code: "invalidArgument" } });
    expect(looks.length, "a name that is repeated is one").toBeLessThanOrEqual(2 * TABLES.length);
  });
});
