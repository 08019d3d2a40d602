/** Which jobs a list's filter means when something is done to all of them. */
import { expect, test } from "vitest";
import { filterWords, meantBy, possible } from "./meant.js";

test("an action means what the list shows, and nothing beside it", () => {
  expect(meantBy({ status: "failed", tag: "t", group: "g", name: "n" })).toEqual({
    ...{ statuses: ["failed"], tags: ["t"], group: "g", name: "n" },
  });
  expect(meantBy({})).toEqual({});
});

test("jobs of one worker cannot be meant: without it the action would mean others too", () => {
  expect(meantBy({ status: "failed", worker: "anvil" })).toBeNull();
});

test("what has ended is not canceled, and what has not is not retried", () => {
  expect(possible({ status: "pending" })).toEqual(["cancelMany", "deleteMany"]);
  expect(possible({ status: "timedOut" })).toEqual(["retryMany", "deleteMany"]);
});

test("a question says exactly what is meant", () => {
  expect(filterWords({ status: "timedOut", name: "resize", tag: "x", group: "eu" })).toBe(
    "timed out jobs named “resize” with the tag “x” of the group “eu”",
  );
  expect(filterWords({ tag: "x" }, "cancelMany")).toBe(
    "scheduled, pending and running jobs with the tag “x”",
  );
  expect(filterWords({ tag: "x" }, "deleteMany")).toBe("finished jobs with the tag “x”");
  expect(filterWords({ status: "failed", worker: "anvil" })).toBe(
    "failed jobs that “anvil” had last",
  );
});
