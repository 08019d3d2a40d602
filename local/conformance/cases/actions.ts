/** Actions, from §1.5, §4 and §10: each step commits on its own, and its failure can be caught. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import type { Read } from "../app/convex/rows.js";
import { newGroup, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";

const all: Read = { op: "read" };

const rows = async (target: Target, group: string) => {
  const [seen] = (await target.query(api.rows.look, { group, ids: [], steps: [all] })) as [
    number[],
  ];
  return seen;
};

export const actions: Case[] = [
  {
    id: "7.action-commits-each",
    says: "each mutation of an action commits at once, and its queries see it",
    run: async (target) => {
      const seen = await target.action(api.calls.actionSeesItsWrites, { group: newGroup() });
      expect(seen).toEqual([2, 4, 6]);
    },
  },
  {
    id: "7.action-catches-data",
    says: "an action may catch its mutation's error, with its data",
    run: async (target) => {
      const args = { group: newGroup(), catches: true };
      expect(await target.action(api.calls.actionFails, args)).toBe("data");
    },
  },
  {
    id: "7.action-failure-keeps",
    says: "an action that fails keeps its earlier commits",
    run: async (target) => {
      const group = newGroup();
      await refusal(target.action(api.calls.actionFails, { group, catches: false }));
      expect(await rows(target, group)).toEqual([1, 1]);
    },
  },
  {
    id: "7.action-calls-action",
    says: "an action may run another",
    run: async (target) => {
      expect(await target.action(api.calls.actionCallsAction, { group: "g" })).toBe("inner g");
    },
  },
  {
    id: "7.missing-reference",
    says: "a function that does not exist cannot be called by its name",
    run: async (target) => {
      expect(await refusal(target.mutation(api.calls.missing, {}))).toContain("noSuchThing");
    },
  },
];
