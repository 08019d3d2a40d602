import { test } from "vitest";
import { QUEUES_MAX } from "../../shared/index.js";
import { endInQueues } from "./counted.test.js";

test("a job with a recorded outcome in one of more queues than a sweep publishes cursors of is counted, the last of all", async () => {
  await endInQueues(2 * QUEUES_MAX);
});
