/** Links this package into the apps that import it by name: types and lint resolve it there before any test runs. */
import path from "node:path";
import { linkPackage } from "../harness/link.js";
import { root } from "../harness/paths.js";

for (const app of [
  "harness/app",
  "bench/pull",
  "bench/push/app",
  "bench/push/many",
  "tests/packages/app",
  "tests/types/app",
  "tests/virtual/app-many",
  "tests/dashboard/app",
])
  linkPackage(path.join(root, app));
