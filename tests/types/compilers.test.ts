/** An app's modules with the newest compiler, against the packed files. */
import { test } from "vitest";
import { checkCompiler } from "./checkCompiler.js";

test("TypeScript 7.0 takes the modules, and names the correction of each mistake", async () => {
  await checkCompiler("7.0", "typescript-7");
}, 180_000);
