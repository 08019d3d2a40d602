import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { onStopSignal } from "./stopSignals.js";

test("one Ctrl-C is one, however often it is passed on, and a later one is another", async () => {
  const before = new Set([...process.listeners("SIGINT"), ...process.listeners("SIGTERM")]);
  let asked = 0;
  onStopSignal(() => asked++);
  const [interrupt] = process.listeners("SIGINT").filter((listener) => !before.has(listener));
  const [terminate] = process.listeners("SIGTERM").filter((listener) => !before.has(listener));
  try {
    interrupt!("SIGINT");
    interrupt!("SIGINT");
    terminate!("SIGTERM");
    expect(asked).toBe(1);
    await pause(600);
    interrupt!("SIGINT");
    expect(asked).toBe(2);
  } finally {
    process.off("SIGINT", interrupt!);
    process.off("SIGTERM", terminate!);
  }
});
