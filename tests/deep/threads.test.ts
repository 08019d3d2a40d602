/** Functions behave in threads as they do inline: the same tests once more. */
import { afterAll, beforeAll, describe } from "vitest";
import { isolateIn } from "../../local/functions/testing.js";

beforeAll(() => isolateIn("threads"));
afterAll(() => isolateIn("inline"));

// A scope each: every one of them has hooks.
describe("in threads: runtime", async () =>
  void (await import("../../local/functions/runtime.test.js")));
describe("in threads: transactions", async () =>
  void (await import("../../local/functions/transactions.test.js")));
describe("in threads: rejections", async () =>
  void (await import("../../local/functions/rejections.test.js")));
describe("in threads: components", async () =>
  void (await import("../../local/functions/components.test.js")));
describe("in threads: HTTP actions", async () =>
  void (await import("../../local/http/httpAction.test.js")));
describe("in threads: thrown values", async () =>
  void (await import("../../local/functions/uncaught.test.js")));
