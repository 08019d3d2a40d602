import { describe, expect, test } from "vitest";
import { PENDING_BANDS, pendingOrder, PRIORITY_MAX, PRIORITY_MIN } from "./order.js";

describe("the order of pending jobs", () => {
  test("is a whole number, never negative, and never -0, which is another index key than 0", () => {
    for (let priority = PRIORITY_MIN; priority <= PRIORITY_MAX; priority += 1) {
      for (const returned of [true, false]) {
        const order = pendingOrder(returned, priority);
        expect(Number.isInteger(order)).toBe(true);
        expect(Object.is(order, Math.abs(order))).toBe(true);
      }
    }
  });

  test("puts higher priorities first, and in one priority what came back before what is new", () => {
    expect(pendingOrder(false, 10)).toBeLessThan(pendingOrder(true, 9));
    expect(pendingOrder(true, 5)).toBeLessThan(pendingOrder(false, 5));
  });

  test("has the bands that claims look at", () => {
    expect(PENDING_BANDS).toEqual([20, 21]);
  });

  test.each([-1, 11, 0.5, NaN])("refuses the priority %s", (priority) => {
    expect(() => pendingOrder(false, priority)).toThrow("whole number");
  });
});
