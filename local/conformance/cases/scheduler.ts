/** §4 and the additions of §13: scheduling, states as other functions see them, cancel, order, exactly once and at most once. */
import { expect } from "vitest";
import { until } from "../../until.js";
import { api } from "../app/convex/_generated/api.js";
import { newGroup, NO_CONFLICTS, refusal, type Case } from "../case.js";
import { passes } from "../overlap.js";
import type { Target } from "../target.js";

/** `convex-test` then throws where the error cannot be caught, and the whole run fails. */
const CANCELED_RUN =
  "it fails, outside of the test, at the end of a function that was canceled while it ran";

type What = Parameters<typeof later>[2];

function later(
  target: Target,
  group: string,
  what:
    | "note"
    | "fails"
    | "noteAction"
    | "failsAction"
    | "slowAction"
    | "looksAtItself"
    | "wrongArgs"
    | "aQuery"
    | "hot",
  ns = [1],
  ms = 0,
): Promise<string[]> {
  return target.mutation(api.jobs.later, { group, what, ns, ms });
}

interface Row {
  name: string;
  args: unknown[];
  scheduledTime: number;
  completedTime?: number;
  state: { kind: string; error?: string };
}

const row = (target: Target, id: string) =>
  target.query(api.jobs.state, { id: id as never }) as Promise<Row>;

const notes = (target: Target, group: string) => target.query(api.jobs.notes, { group });

const completed = (target: Target, id: string) =>
  until(
    () => row(target, id),
    ({ state }) => state.kind !== "pending" && state.kind !== "inProgress",
  );

const noted = (target: Target, group: string, count: number) =>
  until(
    () => notes(target, group),
    (rows) => rows.length >= count,
  );

/** Schedules one thing and waits for its end. */
async function end(target: Target, what: What): Promise<{ row: Row; group: string; id: string }> {
  const group = newGroup();
  const [id] = (await later(target, group, what)) as [string];
  return { row: await completed(target, id), group, id };
}

const HOUR_MS = 3_600_000;

/** An action that runs until a row appears; `tell` inserts it. */
async function slow(target: Target) {
  const group = newGroup();
  const [id] = (await later(target, group, "slowAction", [5])) as [string];
  await noted(target, group, 1);
  return { group, id, tell: () => target.mutation(api.rows.seed, { group, ns: [0] }) };
}

export const scheduler: Case[] = [
  {
    id: "4.1.document",
    says: "a scheduled function is a document with its name, arguments, time and state",
    convexTest: { differs: "the name lacks the module's ending .js" },
    run: async (target) => {
      const group = newGroup();
      const before = Date.now();
      const [id] = (await later(target, group, "note", [1], HOUR_MS)) as [string];
      const doc = await row(target, id);
      expect(doc).toMatchObject({
        _id: id,
        name: "jobs.js:note",
        args: [{ group, n: 1 }],
        state: { kind: "pending" },
      });
      expect(Math.abs(doc.scheduledTime - before - HOUR_MS)).toBeLessThan(60_000);
      expect(doc).not.toHaveProperty("completedTime");
      await target.mutation(api.jobs.cancel, { id: id as never });
    },
  },
  {
    id: "4.1.system-query",
    says: "scheduled functions can be listed by creation time",
    run: async (target) => {
      const ids = await later(target, newGroup(), "note", [1, 2, 3], HOUR_MS);
      // Other cases schedule meanwhile.
      const newest = await target.query(api.jobs.newest, { count: 200 });
      const own = newest.filter((id) => ids.includes(id));
      expect(own).toEqual([...ids].reverse());
      for (const id of ids) await target.mutation(api.jobs.cancel, { id: id as never });
    },
  },
  {
    id: "4.2.runs",
    says: "runAfter(0) runs after the commit, exactly once",
    convexTest: { differs: "completedTime is never set" },
    run: async (target) => {
      const { row: doc, group, id } = await end(target, "note");
      expect(doc.state).toEqual({ kind: "success" });
      expect(doc.completedTime).toEqual(expect.any(Number));
      expect(await notes(target, group)).toMatchObject([{ n: 1, note: { by: id } }]);
    },
  },
  {
    id: "4.2.not-early",
    says: "nothing runs before its time",
    run: async (target) => {
      const group = newGroup();
      const [id] = (await later(target, group, "note", [1], 300)) as [string];
      const { scheduledTime } = await completed(target, id);
      const [note] = await notes(target, group);
      expect((note!.note as { at: number }).at).toBeGreaterThanOrEqual(Math.floor(scheduledTime));
    },
  },
  {
    id: "4.2.with-the-commit",
    says: "a failed mutation schedules nothing",
    run: async (target) => {
      const group = newGroup();
      await refusal(target.mutation(api.jobs.laterAndFail, { group }));
      const [id] = (await later(target, group, "note", [9])) as [string];
      await completed(target, id);
      expect(await notes(target, group)).toMatchObject([{ n: 9 }]);
    },
  },
  {
    id: "4.2.rolled-back-nested",
    says: "a failed nested mutation schedules nothing either",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.jobs.laterInFailed, { group });
      expect(await noted(target, group, 1)).toMatchObject([{ n: 2 }]);
    },
  },
  {
    id: "4.2.action-at-once",
    says: "an action schedules at once, even if it fails later",
    run: async (target) => {
      const group = newGroup();
      await refusal(target.action(api.jobs.fromFailingAction, { group }));
      expect(await noted(target, group, 1)).toMatchObject([{ n: 1 }]);
    },
  },
  {
    id: "4.2.past",
    says: "a time that has passed means now",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.jobs.laterAt, { group, n: 1, at: Date.now() - HOUR_MS });
      expect(await noted(target, group, 1)).toHaveLength(1);
    },
  },
  {
    id: "4.2.negative-delay",
    says: "a negative or infinite delay is refused",
    run: async (target) => {
      for (const ms of [-1, Infinity, NaN]) {
        const message = await refusal(target.mutation(api.jobs.badDelay, { ms }));
        expect(message).toMatch(/delay/i);
      }
    },
  },
  {
    id: "4.2.too-far",
    says: "more than five years of 366 days ahead is refused",
    convexTest: { differs: "any distance is accepted" },
    run: async (target) => {
      const ms = 6 * 366 * 24 * HOUR_MS;
      expect(await refusal(target.mutation(api.jobs.badDelay, { ms }))).toContain("years");
    },
  },
  {
    id: "4.2.missing",
    says: "a function that does not exist cannot be scheduled",
    convexTest: { differs: "it is accepted, and fails when it is due" },
    run: async (target) => {
      expect(await refusal(target.mutation(api.jobs.laterMissing, {}))).toContain("noSuchThing");
    },
  },
  {
    id: "4.2.args-checked-late",
    says: "arguments are checked when it runs, not when it is scheduled",
    convexTest: { differs: "the error is logged, and not kept in the state" },
    run: async (target) => {
      const { row: doc } = await end(target, "wrongArgs");
      expect(doc.state.kind).toBe("failed");
      expect(doc.state.error).toContain("ArgumentValidationError");
    },
  },
  {
    id: "4.2.type-checked-late",
    says: "that a query cannot be scheduled is said when it runs, not when it is scheduled",
    convexTest: { differs: "it has no such check" },
    run: async (target) => {
      const { row: doc } = await end(target, "aQuery");
      expect(doc.state.kind).toBe("failed");
      expect(doc.state.error).toMatch(/Unsupported function type.*Query/s);
    },
  },
  {
    id: "4.2.no-conflicts",
    says: "two transactions that schedule do not conflict",
    convexTest: NO_CONFLICTS,
    run: (target) => passes(target, { reads: [{ op: "schedule" }], writes: [{ op: "schedule" }] }),
  },
  {
    id: "4.2.fifo",
    says: "functions that one mutation schedules for now start in the order in which they were scheduled",
    run: async (target) => {
      const group = newGroup();
      await later(target, group, "note", [1, 2, 3, 4, 5]);
      const rows = await noted(target, group, 5);
      const starts = rows.map(({ n, note }) => ({ n, at: (note as { at: number }).at }));
      starts.sort((a, b) => a.n - b.n);
      for (const [i, { at }] of starts.entries()) {
        if (i > 0) expect(at).toBeGreaterThanOrEqual(starts[i - 1]!.at);
      }
    },
  },
  {
    id: "4.2.cancel",
    says: "a function canceled before it begins never runs",
    convexTest: { differs: "completedTime is never set" },
    run: async (target) => {
      const group = newGroup();
      const [id] = (await later(target, group, "note", [1], 150)) as [string];
      await target.mutation(api.jobs.cancel, { id: id as never });
      const doc = await row(target, id);
      expect(doc.state).toEqual({ kind: "canceled" });
      expect(doc.completedTime).toEqual(expect.any(Number));
      const [after] = (await later(target, group, "note", [2], 250)) as [string];
      await completed(target, after);
      expect(await notes(target, group)).toMatchObject([{ n: 2 }]);
    },
  },
  {
    id: "4.2.cancel-finished",
    says: "a cancel of an ended function changes nothing",
    convexTest: { differs: "an ended function becomes canceled" },
    run: async (target) => {
      const { row: doc, id } = await end(target, "note");
      await target.mutation(api.jobs.cancel, { id: id as never });
      expect(await row(target, id)).toEqual(doc);
    },
  },
  {
    id: "4.2.action-cancels",
    says: "an app's action may cancel a function that it scheduled",
    run: async (target) => {
      const args = { group: newGroup(), ms: HOUR_MS, cancels: true };
      const id = await target.action(api.jobs.fromAction, args);
      expect((await row(target, id)).state).toEqual({ kind: "canceled" });
    },
  },
  {
    id: "4.3.internal",
    says: "internal functions may be scheduled, and no user is signed in when they run",
    run: async (target) => {
      const { row: doc } = await end(target, "note");
      expect(doc.state.kind).toBe("success");
    },
  },
  {
    id: "4.4.sees-itself-running",
    says: "a scheduled mutation finds itself in progress while all other readers find it pending",
    run: async (target) => {
      const { group } = await end(target, "looksAtItself");
      expect(await notes(target, group)).toMatchObject([{ note: "inProgress" }]);
    },
  },
  {
    id: "4.4.error-not-retried",
    says: "a scheduled mutation that throws fails, is not retried and writes nothing",
    convexTest: { differs: "the error is logged, and not kept in the state" },
    run: async (target) => {
      const { row: doc, group } = await end(target, "fails");
      expect(doc.state.kind).toBe("failed");
      expect(doc.state.error).toContain("told to fail");
      expect(await notes(target, group)).toEqual([]);
    },
  },
  {
    id: "4.4.conflicts-retried",
    says: "scheduled mutations that conflict are retried until each has counted",
    run: async (target) => {
      const group = newGroup();
      const ids = await later(
        target,
        group,
        "hot",
        Array.from({ length: 8 }, () => 1),
      );
      for (const id of ids) expect((await completed(target, id)).state.kind).toBe("success");
      expect(await notes(target, group)).toMatchObject([{ n: 8 }]);
    },
  },
  {
    id: "4.5.action",
    says: "a scheduled action runs once and succeeds",
    run: async (target) => {
      const { row: doc, group } = await end(target, "noteAction");
      expect(doc.state.kind).toBe("success");
      expect(await notes(target, group)).toHaveLength(1);
    },
  },
  {
    id: "4.5.action-not-retried",
    says: "an action that fails is failed, and its effects stay",
    convexTest: { differs: "the error is logged, and not kept in the state" },
    run: async (target) => {
      const { row: doc, group } = await end(target, "failsAction");
      expect(doc.state.kind).toBe("failed");
      expect(doc.state.error).toContain("told to fail");
      expect(await notes(target, group)).toHaveLength(1);
    },
  },
  {
    id: "4.5.in-progress",
    says: "all readers see a scheduled action in progress while it runs",
    run: async (target) => {
      const { id, tell } = await slow(target);
      expect((await row(target, id)).state).toEqual({ kind: "inProgress" });
      await tell();
      expect((await completed(target, id)).state).toEqual({ kind: "success" });
    },
  },
  {
    id: "4.5.canceled-goes-on",
    says: "an action that is canceled while it runs goes on, and its end is ignored",
    convexTest: CANCELED_RUN,
    run: async (target) => {
      const { group, id, tell } = await slow(target);
      await target.mutation(api.jobs.cancel, { id: id as never });
      await tell();
      // Its last step leaves a row, so it has run to its end.
      await until(
        () => notes(target, group),
        (rows) => rows.some(({ n }) => n === -105),
      );
      expect((await row(target, id)).state).toEqual({ kind: "canceled" });
    },
  },
  {
    id: "13.children-of-canceled",
    says: "a function scheduled by a canceled one, also through a mutation of an action, is canceled",
    convexTest: CANCELED_RUN,
    run: async (target) => {
      const { group, id, tell } = await slow(target);
      await target.mutation(api.jobs.cancel, { id: id as never });
      await tell();
      const rows = await until(
        () => notes(target, group),
        (all) => all.some(({ n }) => n === -105),
      );
      const child = rows.find(({ n }) => n === -105)!.label!;
      expect((await row(target, child)).state).toEqual({ kind: "canceled" });
    },
  },
  {
    id: "4.3.cron",
    says: "a cron of the app runs without a user, and may run internal functions",
    convexTest: "it runs no crons",
    run: async (target) => {
      const beats = await until(
        () => notes(target, "beats"),
        (rows) => rows.length > 0,
      );
      expect(beats[0]).toMatchObject({ n: 1, note: { identity: null } });
    },
  },
  {
    id: "4.7.request-metadata",
    says: "a function that runs under a scheduled one knows its id, one that a client calls has none",
    run: async (target) => {
      const { group, id } = await end(target, "noteAction");
      expect(await notes(target, group)).toMatchObject([{ note: { by: id } }]);
      const { request } = (await target.mutation(api.runtime.metadata, {})) as {
        request: { scheduledFunctionId: string | null };
      };
      expect(request.scheduledFunctionId).toBeNull();
    },
  },
];
