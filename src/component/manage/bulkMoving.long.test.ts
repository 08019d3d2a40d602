import { test } from "vitest";
import { cancelAmong } from "./bulkMoving.test.js";

// Shows F16.
test("canceling among jobs that are worked on ends every one of a thousand while workers take, give back and finish them and new ones come in", async () => {
  await cancelAmong(1_000, 5);
});
