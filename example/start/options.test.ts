import { expect, test } from "vitest";
import { readStartOptions } from "./options.js";

test("without flags: two workers, and the port that Vite's users know", () => {
  expect(readStartOptions([])).toEqual({ once: false, workers: 2, pagePort: 5173 });
});

test("--once with one worker is refused: it is killed on the way, and one must be left", () => {
  expect(() => readStartOptions(["--once", "--workers", "1"])).toThrow("from 2 to 8; got 1");
});

test.each([
  [["--workers", "9"], "--workers must be a whole number from 1 to 8; got 9"],
  [["--page-port", "http"], "--page-port must be a whole number from 1 to 65535; got http"],
  [["--twice"], "--twice"],
])("%j is answered with the rule", (args, message) => {
  expect(() => readStartOptions(args)).toThrow(message);
});

test("help needs nothing else", () => {
  expect(readStartOptions(["--help"])).toBeNull();
});
