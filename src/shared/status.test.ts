import { describe, expect, test } from "vitest";
import {
  EDGES,
  FINISHED_STATUSES,
  isFinished,
  mayMove,
  STATUSES,
  vStatus,
  type Edge,
} from "./status.js";

describe("the state machine", () => {
  // Shows LF-03, SG-13.
  test("knows the statuses that its validator knows", () => {
    expect(vStatus.members.map((member) => member.value)).toEqual([...STATUSES]);
  });

  test("lets a finished job out by retry only", () => {
    const ways = Object.keys(EDGES).filter((edge) =>
      FINISHED_STATUSES.some((status) => mayMove(edge as Edge, status)),
    );
    expect(ways).toEqual(["retry"]);
  });

  // Shows WP-08.
  test("has a way from every status to an end, and from pending to every other", () => {
    const reachable = new Set<string>(["pending"]);
    for (const _ of STATUSES) {
      for (const { from, to } of Object.values(EDGES)) {
        if (from.some((status) => reachable.has(status))) reachable.add(to);
      }
    }
    expect([...reachable].sort()).toEqual([...STATUSES].sort());
    for (const status of STATUSES) {
      const leaves = Object.values(EDGES).some((edge) =>
        (edge.from as readonly string[]).includes(status),
      );
      expect(leaves).toBe(true);
    }
  });

  test("counts the attempt at the claim and nowhere else", () => {
    const counting = Object.entries(EDGES).filter(
      ([, edge]) => "counts" in edge && edge.counts === "attempt",
    );
    expect(counting.map(([name]) => name)).toEqual(["claim"]);
  });

  test("calls a status finished that only people's operations leave", () => {
    expect(STATUSES.filter(isFinished).sort()).toEqual([...FINISHED_STATUSES].sort());
  });
});
