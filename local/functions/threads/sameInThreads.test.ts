/** Functions behave in threads as they do inline: the same tests, run again. */
import { afterAll, beforeAll, describe } from "vitest";
import { isolateIn } from "../testing.js";

describe("in threads", async () => {
  beforeAll(() => isolateIn("threads"));
  afterAll(() => isolateIn("inline"));
  await import("../runtime.test.js");
  await import("../transactions.test.js");
  await import("../rejections.test.js");
  await import("../components.test.js");
});
