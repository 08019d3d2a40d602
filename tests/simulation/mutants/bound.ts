/** Bugs in batches of jobs, in workers that are bound to groups, and in workers that are quiet. */
import type { Mutant } from "./mutant.js";

export const BOUND: readonly Mutant[] = [
  {
    name: "a full batch is given one job more",
    changes: [
      {
        in: "gathering.ts",
        from: "found.attempts.length < size",
        to: "found.attempts.length <= size",
      },
    ],
    finds: ["batches"],
    needs: ["batches"],
  },
  {
    name: "a token's prefix lets any group pass",
    changes: [
      {
        in: "conditions.ts:isOfGroups",
        begins: "if (groupPrefix !== undefined) return group !== undefined;",
      },
    ],
    finds: ["scope"],
    needs: ["scope"],
  },
  {
    name: "a worker that is quiet is given jobs all the same",
    changes: [{ in: "claim.ts:takeFrom", condition: "session.isQuiet", is: false }],
    finds: ["quiet"],
    needs: ["quiet workers"],
  },
];
