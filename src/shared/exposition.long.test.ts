/** The same as `exposition.test.ts`, with more texts. */
import { test } from "vitest";
import { readBack } from "./exposition.test.js";

test("any of many texts of a label is read back as it was", () => {
  readBack(100);
});
