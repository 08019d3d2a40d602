/** Second step of `npm run build`: builds the parts that the compiler leaves out. */
import { buildStyles } from "./support/styles.js";
import { buildTest } from "./support/testBuild.js";

buildStyles();
await buildTest();
