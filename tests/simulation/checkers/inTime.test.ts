/** The bounds of this checker: a slice of time that no world stretches, and hops that are as uneven as the world is. */
import { expect, test } from "vitest";
import { Tables, type Row } from "../observed.js";
import type { Plan } from "../plan.js";
import { inTime } from "./inTime.js";

const EVEN = 0.5;
const UNEVEN = 1.2;

/** The checker's violations at the end of a world in which this job stands so long after its time. */
function saidOf(job: object, lateMs: number, jitter: number, parts: string[] = []): string[] {
  const said: string[] = [];
  const tables = new Tables();
  const doc = { _id: "job", queue: "acted", attempt: 0, ...job } as Row;
  tables.apply({
    ...{ ts: 1n, reads: [] },
    writes: [{ namespace: "conveyor", table: "jobs", id: "job", doc }],
  } as never);
  const watching = inTime.watch({
    ...{ plan: { jitter, parts } as unknown as Plan, tables, runs: [], asked: [] },
    ...{ now: () => lateMs, date: () => DUE_AT + lateMs, nameOf: (id) => id },
    ...{ happened: () => undefined, broken: (how) => said.push(how) },
  });
  watching.end?.();
  return said;
}
const DUE_AT = 1_000_000;
const EXPIRED = { status: "pending", order: 0, expiresAt: DUE_AT };
const DUE = { status: "scheduled", order: DUE_AT };

test.each([
  ["an expiry, times even", EXPIRED, EVEN, 3_000],
  ["an expiry, times uneven: the second of its alarm stays a second", EXPIRED, UNEVEN, 7_000],
  ["a due time, times even", DUE, EVEN, 1_500],
  ["a due time, times uneven", DUE, UNEVEN, 4_300],
])("%s", (_of, job, jitter, boundMs) => {
  expect(saidOf(job, boundMs, jitter)).toEqual([]);
  expect(saidOf(job, boundMs + 1, jitter)).toHaveLength(1);
});

test("a job that was begun once does not expire, and a world with a late scheduler is not judged", () => {
  expect(saidOf({ ...EXPIRED, attempt: 1 }, 60_000, EVEN)).toEqual([]);
  expect(saidOf(EXPIRED, 60_000, EVEN, ["late"])).toEqual([]);
});
