/** Links this package into the apps that import it by name: types and lint resolve it there before any test runs. */
import path from "node:path";
import { linkPackage } from "../tests/support/link.js";
import { root } from "../tests/support/paths.js";

for (const app of [
  "tests/support/app",
  "bench/pull",
  "bench/push/app",
  "bench/push/many",
  "tests/packages/app",
  "tests/types/app",
  "tests/virtual/app-many",
  "tests/dashboard/app",
])
  linkPackage(path.join(root, app));
