/** Builds the library when its output is missing or older than its source: the example imports it as an app would. */
import { buildStyles } from "../../scripts/support/styles.js";
import { buildTest } from "../../scripts/support/testBuild.js";
import type { Children } from "./children.js";
import { compiler } from "./repository.js";

export { libraryIsStale } from "../../scripts/support/build.js";

/** Compiles into `dist`, without emptying it first: an open page or worker may be reading it. */
export async function buildLibrary(children: Children): Promise<void> {
  await children.run("The compiler", compiler("-p", "tsconfig.build.json"));
  buildStyles();
  await buildTest();
}
