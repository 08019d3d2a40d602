/**
 * The calls of pages and programs to the dashboard, and where the operation is seen, since metrics count two functions.
 */
import type { ApiFromModules } from "convex/server";
import { expect, expectTypeOf, test, vi } from "vitest";
import { logLine, type DashboardApi, type Stats } from "../shared/index.js";
import { fill, newApp, read, write } from "./dashboardSetup.test.js";
import { refusal, type conveyor } from "./setup.test.js";

const queue = "tiles";

test("the functions have the types that pages call", () => {
  type Functions = ReturnType<typeof conveyor.dashboardApi>;
  type Built = ApiFromModules<{ dashboard: Functions }>["dashboard"];
  expectTypeOf<Built>().toExtend<DashboardApi>();
});

test("an answer has the type of its call, and a call that is none does not compile", () => {
  const _stats = read({ kind: "stats", queue, per: "minute" });
  expectTypeOf<(typeof _stats)[0]["_returnType"]>().toEqualTypeOf<Stats>();
  const _pause = write({ kind: "pause", queue });
  expectTypeOf<(typeof _pause)[0]["_returnType"]>().toEqualTypeOf<{ changed: boolean }>();
  // @ts-expect-error A list needs its filter and order.
  read({ kind: "list", queue });
  // @ts-expect-error A change is none of `read`'s.
  read({ kind: "pause", queue });
  // @ts-expect-error Another word is no operation.
  write({ kind: "redrive", queue, filter: {} });
});

test("a change is logged with its operation, and an error has it in its data too", async () => {
  const t = newApp();
  await fill(t);
  const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
  await t.mutation(...write({ kind: "pause", queue }));
  expect(info.mock.lastCall).toEqual([
    logLine("info", "dashboardWrote", { call: "pause", queue, job: undefined }),
  ]);
  const { kind } = await refusal(
    t.mutation(...write({ kind: "retry", queue, id: "nonsense" })),
    "unknownJob",
  );
  expect(kind).toBe("retry");
  expect(vi.mocked(console.warn).mock.lastCall?.[0]).toContain(
    '{"conveyor":"dashboardFailed","level":"warn","call":"retry","queue":"tiles","job":"nonsense"',
  );
});
