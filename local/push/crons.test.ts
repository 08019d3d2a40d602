import { cronJobs, makeFunctionReference } from "convex/server";
import { describe, expect, test } from "vitest";
import type { AnalyzedFunction, CronSpec, ModuleSource } from "../functions/types.js";
import { evaluateCrons } from "./crons.js";

const send = makeFunctionReference<"mutation">("mail:send");
const read = makeFunctionReference<"mutation">("mail:read");
const gone = makeFunctionReference<"mutation">("mail:gone");

const FUNCTIONS = new Map([
  ["mail.js", [analyzed("send", "Mutation"), analyzed("read", "Query")]],
  ["crons.js", []],
]);

function analyzed(name: string, udfType: AnalyzedFunction["udfType"]): AnalyzedFunction {
  return { name, udfType, visibility: "internal", args: "", returns: "" };
}

/** The push's form of a `crons.ts` with this default export. */
function evaluate(exported: unknown): Promise<Map<string, CronSpec>> {
  const module: ModuleSource = { path: "crons.js", source: "", environment: "isolate" };
  const importer = () => ({ import: async () => ({ default: exported }) });
  return evaluateCrons(new Map([["crons.js", module]]), FUNCTIONS, "", importer);
}

describe("crons are pushed", () => {
  test("every kind of schedule, with the function's path and arguments", async () => {
    const crons = cronJobs();
    crons.interval("a", { minutes: 2 }, send, { to: "x" });
    crons.hourly("b", { minuteUTC: 30 }, send);
    crons.daily("c", { hourUTC: 17, minuteUTC: 30 }, send);
    crons.weekly("d", { dayOfWeek: "friday", hourUTC: 5 }, send);
    crons.monthly("e", { day: 31, hourUTC: 0, minuteUTC: 0 }, send);
    crons.cron("f", "*/5 9-17 * * mon-fri", send);
    const spec = (schedule: object, args = {}) => ({ path: "mail:send", args, schedule });
    expect(Object.fromEntries(await evaluate(crons))).toEqual({
      a: spec({ type: "interval", seconds: 120 }, { to: "x" }),
      b: spec({ type: "hourly", minuteUTC: 30 }),
      c: spec({ type: "daily", hourUTC: 17, minuteUTC: 30 }),
      d: spec({ type: "weekly", dayOfWeek: "friday", hourUTC: 5 }),
      e: spec({ type: "monthly", day: 31, hourUTC: 0, minuteUTC: 0 }),
      f: spec({ type: "cron", cron: "*/5 9-17 * * mon-fri" }),
    });
  });

  test("an app without crons.ts has none", async () => {
    expect(await evaluateCrons(new Map(), FUNCTIONS, "", () => null!)).toEqual(new Map());
  });
});

describe("a push is refused", () => {
  test("for a function that is not there, and for a query", async () => {
    const missing = cronJobs();
    missing.interval("a", { hours: 1 }, gone);
    await expect(evaluate(missing)).rejects.toThrow(/cron "a": there is no function 'mail:gone'/);
    const query = cronJobs();
    query.interval("a", { hours: 1 }, read);
    await expect(evaluate(query)).rejects.toThrow(/'mail:read' is a query/);
  });

  test.each([
    ["* * * *", /five fields .* got 4/],
    ["* * * * * *", /five fields .* got 6/],
    ["@daily", /five fields .* got 1/],
    ["61 * * * *", /"61 \* \* \* \*" is no cron expression: .*0-59/],
    ["0 0 30 2 *", /no cron expression/],
    ["whenever you like it so", /no cron expression/],
  ])("for the expression %s", async (expression, message) => {
    const crons = cronJobs();
    crons.cron("a", expression, send);
    const refused = evaluate(crons);
    await expect(refused).rejects.toMatchObject({ code: "InvalidCron", status: 400 });
    await expect(refused).rejects.toThrow(message);
  });

  test("for an export that only another version of convex would make", async () => {
    const crons = {
      isCrons: true,
      export: () => `{"a":{"name":"mail:send","args":[{}],"schedule":{"type":"yearly"}}}`,
    };
    await expect(evaluate(crons)).rejects.toThrow(/got "yearly"/);
  });

  test("for a crons.ts that exports something else", async () => {
    await expect(evaluate({ isRouter: true })).rejects.toThrow(/must export its crons by default/);
  });
});
