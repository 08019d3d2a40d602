/**
 * The cases on a real deployment, a development one, which `CONVEYOR_TEST_URL` and `CONVEYOR_TEST_ADMIN_KEY` name. The suite
 * pushes its app there, over the deployed one. The CLI's own variables are ignored: they name the local backend, or a deployment
 * that is in use.
 */
import path from "node:path";
import { beforeAll, describe, test } from "vitest";
import { push } from "../convexCli.js";
import { CASES } from "./cases/index.js";
import { testCases } from "./run.js";
import { WireTarget } from "./wire.js";

const url = process.env["CONVEYOR_TEST_URL"];
const adminKey = process.env["CONVEYOR_TEST_ADMIN_KEY"];

if (!url || !adminKey) {
  const reason = "CONVEYOR_TEST_URL and CONVEYOR_TEST_ADMIN_KEY do not name a deployment";
  console.warn(`Skipped: ${reason}.`);
  test.skip(`the conformance cases on a real deployment: ${reason}`, () => {});
} else {
  describe(`on ${url}`, () => {
    const siteUrl =
      process.env["CONVEYOR_TEST_SITE_URL"] ?? url.replace(/\.convex\.cloud$/, ".convex.site");
    const target = new WireTarget({ url, siteUrl, adminKey });
    beforeAll(() => push(path.join(import.meta.dirname, "app"), { url, adminKey }), 180_000);
    testCases(CASES, {
      target: () => target,
      concurrent: true,
      skips: ({ localOnly }) => localOnly ?? null,
      fails: () => null,
    });
  });
}
