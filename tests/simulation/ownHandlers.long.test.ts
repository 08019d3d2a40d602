import path from "node:path";
import { describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { root } from "../support/paths.js";
import { ownHandlers } from "./ownHandlers.js";
import { Seeds } from "./seeds.js";

const SEEDS = counts(2, 8);

async function violationsOf(fixture: string): Promise<string[]> {
  const file = path.join(root, "tests/simulation/fixtures", fixture);
  const seeds = await Seeds.build([ownHandlers(file)]);
  const said: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violations } = await seeds.play(seed);
    said.push(...violations.map(({ checker, how }) => `${checker}: ${how}`));
  }
  return said;
}

describe("handlers from a module of the user", () => {
  test("pass where each try of a job asks for the same under its key", async () => {
    expect(await violationsOf("sameEachTime.ts")).toEqual([]);
  });

  test("are found where a second try asks for something else", async () => {
    const said = await violationsOf("otherEachTime.ts");
    expect(said[0]).toMatch(/^own handlers: the idempotency-key .* came with ".*", and then with/);
  });
});
