/** Functions behave in threads as they do inline: the same tests once more. */
import { afterAll, beforeAll, describe } from "vitest";
import { isolateIn } from "./testing.js";

beforeAll(() => isolateIn("threads"));
afterAll(() => isolateIn("inline"));

// A scope each: every one of them has hooks.
describe("in threads: runtime", async () => void (await import("./runtime.test.js")));
describe("in threads: transactions", async () => void (await import("./transactions.test.js")));
describe("in threads: rejections", async () => void (await import("./rejections.test.js")));
describe("in threads: components", async () => void (await import("./components.test.js")));
describe("in threads: HTTP actions", async () => void (await import("../http/httpAction.test.js")));
describe("in threads: thrown values", async () => void (await import("./uncaught.test.js")));
