/** The same with the earlier compilers that an app may have. */
import { test } from "vitest";
import { checkCompiler } from "./checkCompiler.js";

const COMPILERS = { "5.9": "typescript-5.9", "6.0": "typescript" };

test.concurrent.each(Object.entries(COMPILERS))(
  "TypeScript %s takes the modules, and names the correction of each mistake",
  async (version, compiler) => {
    await checkCompiler(version, compiler);
  },
  180_000,
);
