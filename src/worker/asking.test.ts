import { describe, expect, test } from "vitest";
import { Asking } from "./asking.js";
import { FakeClock } from "./fakes.test.js";
import { EMPTY_CLAIMS_MAX } from "./limits.js";

const MORE = { jobs: [], more: true };
const NONE = { jobs: [], more: false };
const request = { max: 1 };
const empty = (cursor: string) => ({ jobs: [], cursor });

function told(...queues: string[]): Asking {
  const asking = new Asking(new FakeClock(), ["tiles", "walls"], "w");
  for (const queue of ["tiles", "walls"]) asking.told(queue, queues.includes(queue) ? MORE : NONE);
  return asking;
}

const claims = (asking: Asking, count: number) => {
  const followed = Array.from({ length: count }, (_, n) => {
    asking.answered(empty(`c${n + 1}`), request, 5);
    return asking.toFollow(request);
  });
  return followed.flatMap(({ queues, cursor }) => queues.map((queue) => `${queue} ${cursor}`));
};

describe("a queue that is said to have work", () => {
  test("is followed from the cursor on after some empty scans, and with each one once it is", () => {
    const asking = told("tiles");
    expect(claims(asking, EMPTY_CLAIMS_MAX)).toEqual([`tiles c${EMPTY_CLAIMS_MAX}`]);
    asking.told("tiles", NONE);
    expect(claims(asking, 1)).toEqual([]);
    asking.told("tiles", MORE);
    expect(claims(asking, 1)).toEqual(["tiles c1"]);
    // Where that fails, the subscription that all share takes its place.
    asking.untold("tiles");
    asking.told("tiles", MORE);
    expect(claims(asking, 1)).toEqual([]);
  });

  test("is not while scans find jobs, or other workers are faster now and then", () => {
    const asking = told("tiles");
    for (let round = 0; round < 3; round += 1) {
      expect(claims(asking, EMPTY_CLAIMS_MAX - 1)).toEqual([]);
      asking.told("tiles", NONE);
      asking.told("tiles", MORE);
    }
  });

  test("is not by a claim that scanned elsewhere", () => {
    const asking = told("tiles");
    claims(asking, EMPTY_CLAIMS_MAX - 1);
    asking.answered(empty("c"), { ...request, lookIn: ["walls"] }, 5);
    expect(asking.toFollow({ ...request, lookIn: ["walls"] }).queues).toEqual([]);
  });
});
