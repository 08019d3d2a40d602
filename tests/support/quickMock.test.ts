/** The mock that the component's tests run on is made of a version that is known. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./paths.js";
import { quicker } from "./quickMock.js";

const OFFICIAL = path.join(root, "node_modules/convex-test/dist");

test("a version of the mock in which a part is not as it was known is refused", () => {
  const other = readFileSync(path.join(OFFICIAL, "index.js"), "utf8").replace(
    "_documents = {}",
    "",
  );
  expect(() => quicker(other)).toThrow(/not as it was known/);
});
