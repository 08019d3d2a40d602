import { test } from "vitest";
import { endAndDelete } from "./stats.test.js";

test("statistics of more jobs than a run reads, deleted as soon as they had ended, are all there", async () => {
  await endAndDelete(600);
});
