/** The cases on `convex-test`, as far as it supports them; where it differs, the case says how. */
import { CASES } from "./cases/index.js";
import { inProcess } from "./inProcess.js";
import { testCases } from "./run.js";

testCases(CASES, {
  target: inProcess,
  concurrent: false,
  skips: ({ convexTest, localOnly }) =>
    localOnly ?? (typeof convexTest === "string" ? convexTest : null),
  fails: ({ convexTest }) => (typeof convexTest === "object" ? convexTest.differs : null),
});
