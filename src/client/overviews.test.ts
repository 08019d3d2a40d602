import { expect, test } from "vitest";
import { OVERVIEW_BYTES_MAX } from "../shared/index.js";
import { overviewsOf } from "./overviews.js";

/** Each queue reads so much. */
function reading(bytes: number, measures = true) {
  let used = 0;
  const ctx = {
    runQuery: (_: unknown, { queue }: { queue: string }) => {
      used += bytes;
      return Promise.resolve({ name: queue });
    },
    ...(measures
      ? { meta: { getTransactionMetrics: () => Promise.resolve({ bytesRead: { used } }) } }
      : {}),
  };
  const component = { observe: { overview: "overview" } };
  const names = Array.from({ length: 8 }, (_, n) => `q${n}`);
  return overviewsOf(ctx as never, component as never, names);
}

test("as many queues are shown as one query may read, and it says that there are more", async () => {
  const shown = await reading(OVERVIEW_BYTES_MAX / 3);
  expect(shown.more).toBe(true);
  expect(shown.queues).toHaveLength(4);
  expect(await reading(OVERVIEW_BYTES_MAX / 100)).toMatchObject({ more: false });
});

test("an action reads each queue in a transaction of its own: all are shown", async () => {
  const shown = await reading(OVERVIEW_BYTES_MAX, false);
  expect(shown).toMatchObject({ more: false });
  expect(shown.queues).toHaveLength(8);
});
