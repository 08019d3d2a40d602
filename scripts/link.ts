/** Links this package into the test app, which imports it by name: types and lint look there before any test runs. */
import path from "node:path";
import { linkPackage } from "../harness/link.js";
import { root } from "../harness/paths.js";

linkPackage(path.join(root, "harness/app"));
