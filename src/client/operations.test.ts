/** Internal functions for an app's own calls take the same arguments as operators' commands, and do the same. */
import { anyApi, type ApiFromModules, type FunctionReference } from "convex/server";
import { describe, expect, expectTypeOf, test } from "vitest";
import { CHANGE_ARGS, LOOK_ARGS } from "../shared/index.js";
import type { OperationFunctions } from "./operations.js";
import { conveyor, pages, refusal, setup } from "./setup.test.js";

const functions = conveyor.operations();
const operations = anyApi["operations"] as unknown as Record<string, FunctionReference<any, any>>;
const newApp = () => setup({ modules: { operations: functions } });

describe("conveyor.operations", () => {
  test("has each operation once, but the operations on tokens, which tokenApi has", () => {
    const names = Object.keys({ ...CHANGE_ARGS, ...LOOK_ARGS });
    expect(Object.keys(functions).sort()).toEqual(
      names.filter((name) => !name.includes("Token")).sort(),
    );
    for (const made of Object.values(functions)) expect(made).toHaveProperty("isInternal", true);
  });

  test("pauses, retries, cancels and deletes by name", async () => {
    const t = newApp();
    const [id] = await t.mutation(...pages.enqueueMany("tiles", [{ x: 1 }, { x: 2 }]));
    const queue = "tiles";
    const change = async (name: string, args: object) => await t.mutation(operations[name]!, args);
    expect(await change("pauseQueue", { queue })).toEqual({ changed: true });
    expect(await t.query(operations["queueState"]!, { queue })).toHaveProperty("pausedAt");
    expect(await change("resumeQueue", { queue })).toEqual({ changed: true });
    expect(await change("cancelJob", { id, reason: "late" })).toMatchObject({ canceled: true });
    expect(await change("retryJob", { id })).toMatchObject({ retried: true });
    expect(await change("cancelMany", { queue, filter: {} })).toMatchObject({ changed: 2 });
    const canceled = { queue, filter: { statuses: ["canceled"] } };
    expect(await change("retryMany", canceled)).toMatchObject({ changed: 2 });
    expect(await change("deleteJob", { id })).toMatchObject({ deleted: true });
    const pending = { queue, filter: { statuses: ["pending"] } };
    expect(await change("deleteMany", pending)).toMatchObject({ changed: 1, isDone: true });
    await refusal(change("pauseQueue", { queue: "nobody" }), "unknownQueue");
    await refusal(change("cancelJob", { id }), "unknownJob");
  });

  test("has types for the app's own calls", () => {
    type Built = ApiFromModules<{ operations: OperationFunctions }>["operations"];
    expectTypeOf<Built["pauseQueue"]["_args"]>().toEqualTypeOf<{ queue: string }>();
    expectTypeOf<Built["retryJob"]["_returnType"]["retried"]>().toEqualTypeOf<boolean>();
    // @ts-expect-error Tokens have functions of their own.
    expectTypeOf<Built["createToken"]>();
  });
});
