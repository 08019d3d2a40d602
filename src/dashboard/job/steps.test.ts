/** The timeline of a job. */
import { expect, test } from "vitest";
import type { AttemptStatus, JobStatus } from "../../shared/index.js";
import { DEFAULT_LABELS } from "../labels.js";
import { timelineOf } from "./steps.js";

const common = { id: "j", queue: "tiles", enqueuedAt: 100, attempt: 0, failures: 0, resets: 0 };
const job = (given: object) => ({ ...common, ...given }) as JobStatus;
const told = (of: JobStatus, attempts: AttemptStatus[] = []) =>
  timelineOf(of, attempts, DEFAULT_LABELS).map(({ title, at }) => [title, at]);

test("a job that has not begun was enqueued, and waits", () => {
  expect(told(job({ status: "pending" }))).toEqual([
    ["Enqueued", 100],
    ["Waiting", undefined],
  ]);
  expect(told(job({ status: "pending", paused: true })).at(-1)).toEqual(["Paused", undefined]);
});

test("a scheduled job falls due; one that has failed is tried again", () => {
  expect(told(job({ status: "scheduled", dueAt: 900 })).at(-1)).toEqual(["Due", 900]);
  const failed = { attempt: 1, outcome: "failed", endedAt: 300, error: "no" } as const;
  const steps = timelineOf(
    job({ status: "scheduled", dueAt: 900, failures: 1 }),
    [failed],
    DEFAULT_LABELS,
  );
  expect(steps.map(({ title }) => title)).toEqual(["Enqueued", "Attempt 1: failed", "Retry"]);
  expect(steps[1]).toMatchObject({ at: 300, until: 300, error: "no", goesOn: false });
});

test("an attempt that ended the job is its end: it is told once", () => {
  const attempts: AttemptStatus[] = [
    { attempt: 1, outcome: "lost", worker: "a", startedAt: 200, endedAt: 300 },
    { attempt: 2, outcome: "succeeded", worker: "b", startedAt: 400, endedAt: 500 },
  ];
  const done = { status: "succeeded", worker: "b", startedAt: 400, finishedAt: 500, result: 1 };
  expect(told(job(done), attempts)).toEqual([
    ["Enqueued", 100],
    ["Attempt 1 on a: worker lost", 200],
    ["Attempt 2 on b: succeeded", 400],
  ]);
});

test("an end that no attempt tells is told with its reason", () => {
  const canceled = job({ status: "canceled", finishedAt: 700, reason: "no longer wanted" });
  expect(timelineOf(canceled, [], DEFAULT_LABELS).at(-1)).toMatchObject({
    ...{ title: "Canceled", at: 700, error: "no longer wanted", status: "canceled" },
  });
  const expired = job({ status: "failed", finishedAt: 700, error: "expired" });
  const failed = { attempt: 1, outcome: "failed", startedAt: 200, endedAt: 300 } as const;
  expect(told(expired, [failed]).at(-1)).toEqual(["Failed", 700]);
});

test("a requested cancel stands among the attempts, at its time", () => {
  const running = job({ status: "running", worker: "a", startedAt: 200, cancelRequestedAt: 250 });
  const attempt = { attempt: 1, outcome: "running", worker: "a", startedAt: 200 } as const;
  const steps = timelineOf(running, [attempt], DEFAULT_LABELS);
  expect(steps.map(({ title, goesOn }) => [title, goesOn])).toEqual([
    ["Enqueued", false],
    ["Attempt 1 on a: running", true],
    ["Cancel requested", false],
  ]);
});

test("a job that was retried keeps the attempts of before, in the order of time", () => {
  const attempts: AttemptStatus[] = [
    { attempt: 2, outcome: "running", worker: "b", startedAt: 900 },
    { attempt: 1, outcome: "timedOut", worker: "a", startedAt: 200, endedAt: 300 },
  ];
  const again = job({ status: "running", worker: "b", startedAt: 900 });
  expect(told(again, attempts).map(([title]) => title)).toEqual([
    "Enqueued",
    "Attempt 1 on a: timed out",
    "Attempt 2 on b: running",
  ]);
});
