import { describe, expect, test } from "vitest";
import { bandsOf, pendingOrder, PRIORITY_MAX, PRIORITY_MIN } from "./order.js";

describe("the order of pending jobs", () => {
  // Rules out D5, P1.
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

  test("has for priority 0 the bands that it always had, where stored jobs lie", () => {
    expect(bandsOf(0)).toEqual([20, 21]);
    expect(bandsOf(10)).toEqual([0, 1]);
    expect(bandsOf(-10)).toEqual([40, 41]);
  });

  test.each([-11, 11, 0.5, NaN])("refuses the priority %s", (priority) => {
    expect(() => pendingOrder(false, priority)).toThrow("whole number");
  });
});
