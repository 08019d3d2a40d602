/** Second step of `npm run build`: builds the parts that the compiler leaves out. */
import { buildStyles } from "../harness/styles.js";
import { buildTest } from "../harness/testBuild.js";

buildStyles();
await buildTest();
