import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runFile, runProgram } from "../testing.js";
import { crashRounds } from "./rounds.js";

/** It starts a backend for each round: some 15 s on a quiet machine. */
const TIME_MS = 300_000;

test(
  "a backend that is killed at any moment has lost nothing that it acknowledged",
  async () => {
    const report = await crashRounds({ seed: 1, rounds: 3, start: runProgram });
    expect(report.violations).toEqual([]);
    expect(report.acknowledged).toBeGreaterThan(30);
  },
  TIME_MS,
);

test(
  "one that acknowledges a commit before it is written is found out",
  async () => {
    const early = fileURLToPath(new URL("./earlyBackend.ts", import.meta.url));
    const start = (...args: string[]) => runFile(early, ...args);
    const report = await crashRounds({ seed: 1, rounds: 3, start });
    expect(report.violations.join("\n")).toMatch(/was acknowledged and is lost|the time went back/);
  },
  TIME_MS,
);
