/** The measures of this machine. */
import { expect, test } from "vitest";
import { nodeLoad } from "./load.js";

test("memory and processor time are shares of the machine's, and a second measure within a second is the first", () => {
  const { memory, cpu } = nodeLoad();
  expect(memory()).toBeGreaterThan(0);
  expect(memory()).toBeLessThanOrEqual(1);
  const first = cpu();
  expect(first).toBeGreaterThanOrEqual(0);
  expect(cpu()).toBe(first);
});
