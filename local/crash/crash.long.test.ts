import { expect, test } from "vitest";
import { counts } from "../counts.js";
import { runProgram } from "../testing.js";
import { crashRounds } from "./rounds.js";

/** Two backends beside each other: most of a round is waiting for clients that come again. */
const SEEDS = [11, 12];
const ROUNDS = counts(4, 10);

test(`${SEEDS.length * ROUNDS} times killed at a random moment under load, a backend has lost nothing that it acknowledged`, async () => {
  const reports = await Promise.all(
    SEEDS.map((seed) => crashRounds({ seed, rounds: ROUNDS, start: runProgram })),
  );
  for (const { violations, ...counted } of reports) {
    console.log(counted);
    expect(violations).toEqual([]);
    expect(counted.rounds).toBe(ROUNDS);
  }
}, 600_000);
