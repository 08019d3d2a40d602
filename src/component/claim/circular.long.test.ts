/** The same as `circular.test.ts`, with more steps. */
import { test } from "vitest";
import { playMany } from "./circular.test.js";

test("a circular queue keeps its order in many orders of steps", async () => {
  await playMany(30);
});
