/** Workers on the dashboard: which are shown, and the button that quiets one. */
import { ConvexError } from "convex/values";
import { describe, expect, test } from "vitest";
import { fill, newApp, options, read, write } from "./dashboardSetup.test.js";
import { refusal, type App } from "./setup.test.js";

describe("workers", () => {
  test("are shown without their jobs of queues that the caller may not see", async () => {
    const t = newApp();
    await fill(t);
    options.authorize = (_ctx, call) => call.kind === "workers";
    expect(await t.query(...read({ kind: "workers" }))).toMatchObject([
      { name: "w", queues: [], holding: [] },
    ]);
    options.authorize = (_ctx, call) => {
      if (call.kind === "workers") return true;
      throw new ConvexError("Not you.");
    };
    expect(await t.query(...read({ kind: "workers" }))).toMatchObject([
      { name: "w", queues: [], holding: [] },
    ]);
  });
});

describe("the button of a worker", () => {
  const mayOf = async (t: App) => (await t.query(...read({ kind: "workers" })))[0]!.may;

  test("quiets it or ends that, and is there for a caller that `authorize` lets do so to workers", async () => {
    const t = newApp();
    const { worker } = await fill(t);
    options.authorize = (_ctx, call) => !call.changes || call.kind === "quietWorker";
    expect(await mayOf(t)).toEqual(["quietWorker"]);
    await t.mutation(...write({ kind: "quietWorker", id: worker }));
    expect(await t.query(...read({ kind: "workers" }))).toMatchObject([
      { name: "w", quietBy: "operator", may: [] },
    ]);
    await refusal(t.mutation(...write({ kind: "resumeWorker", id: worker })), "forbidden");
    options.authorize = (_ctx, call) => !call.changes || call.kind === "resumeWorker";
    expect(await mayOf(t)).toEqual(["resumeWorker"]);
    await t.mutation(...write({ kind: "resumeWorker", id: worker }));
    expect(await mayOf(t), "and not to quiet it again").toEqual([]);
  });

  test("is refused for a worker that `authorize` keeps from the caller, though the page has it", async () => {
    const t = newApp();
    const { worker } = await fill(t);
    options.authorize = (_ctx, call) => call.kind !== "quietWorker" || call.id === undefined;
    expect(await mayOf(t)).toEqual(["quietWorker"]);
    await refusal(t.mutation(...write({ kind: "quietWorker", id: worker })), "forbidden");
  });

  test("costs one question to `authorize` for all workers of the page", async () => {
    const t = newApp();
    await fill(t);
    const asked: unknown[] = [];
    options.authorize = (_ctx, call) => {
      if (call.changes) asked.push(call);
      return true;
    };
    await t.query(...read({ kind: "workers" }));
    expect(asked).toEqual(["quietWorker", "resumeWorker"].map((kind) => ({ kind, changes: true })));
  });

  test("does nothing to an id that names none", async () => {
    const t = newApp();
    const { pending } = await fill(t);
    for (const id of ["", "none", pending])
      await refusal(t.mutation(...write({ kind: "quietWorker", id })), "unknownWorker");
  });
});
