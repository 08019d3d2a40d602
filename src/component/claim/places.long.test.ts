import { describe, test } from "vitest";
import { SHARDS_DEFAULT } from "../../shared/index.js";
import { givesHighestFirst, sleepsWhileEmpty } from "./places.test.js";

describe("a queue of as many places as it may have", () => {
  test("gives out the highest priority first, wherever it lies, and hides nothing", async () => {
    await givesHighestFirst(SHARDS_DEFAULT);
  });

  test("has no work once it is empty, or holds only jobs for other workers, and idle workers sleep", async () => {
    await sleepsWhileEmpty(SHARDS_DEFAULT);
  });
});
