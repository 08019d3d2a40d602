/** A worker's events in a page, whose globals are not Node's. */
import { anyApi } from "convex/server";
import { expect, test } from "vitest";
import { Worker } from "../worker/index.js";

test("a worker in a page has events as any EventTarget there", async () => {
  const worker = new Worker({
    ...{ url: "http://127.0.0.1:1", token: "cvy_00000000_x", api: anyApi["worker"] as never },
    handlers: { tiles: async () => null } as never,
    onEvent: () => undefined,
  });
  const states: string[] = [];
  worker.addEventListener("state", (event) => {
    expect(event).toBeInstanceOf(window.CustomEvent);
    states.push(event.detail.state);
  });
  const running = worker.run();
  await worker.stop({ graceMs: 0 });
  await running;
  expect(states.at(-1)).toBe("stopped");
});
