/** The jobs of a bulk action under a list's filter. */
import { expect, test } from "vitest";
import { DEFAULT_LABELS } from "../labels.js";
import { meantBy, possible } from "./meant.js";

test("a bulk action has the filter of the list, and no other", () => {
  expect(meantBy({ status: "failed", tag: "t", group: "g", name: "n" })).toEqual({
    ...{ statuses: ["failed"], tags: ["t"], group: "g", name: "n" },
  });
  expect(meantBy({})).toEqual({});
});

test("a filter by worker has no bulk action: without the worker it would change more jobs", () => {
  expect(meantBy({ status: "failed", worker: "anvil" })).toBeNull();
});

test("a finished job is not canceled, and an unfinished one is not retried", () => {
  expect(possible({ status: "pending" })).toEqual(["cancelMany", "deleteMany"]);
  expect(possible({ status: "timedOut" })).toEqual(["retryMany", "deleteMany"]);
});

test("a question names the jobs of its action exactly", () => {
  const { jobs, bulk } = DEFAULT_LABELS;
  expect(jobs.empty({ status: "timedOut", name: "resize", tag: "x", group: "eu" })).toBe(
    "No timed out jobs named “resize” with the tag “x” in the group “eu”",
  );
  expect(bulk.cancelQuestion({ tag: "x", action: "cancelMany" })).toBe(
    "Cancel all scheduled, pending and running jobs with the tag “x”?",
  );
  expect(bulk.deleteQuestion({ tag: "x", action: "deleteMany" })).toBe(
    "Delete all finished jobs with the tag “x”?",
  );
  expect(jobs.empty({ status: "failed", worker: "anvil" })).toBe(
    "No failed jobs last claimed by “anvil”",
  );
});
