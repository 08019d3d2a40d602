/** Bugs in the main loop: in slots, places and hand-overs, and in the processes that have them. */
import type { Plan } from "../plan.js";
import type { Mutant } from "./mutant.js";

const hasMany = ({ crowd }: Plan): boolean => Object.keys(crowd).length > 1;

const planted: readonly Mutant[] = [
  {
    name: "a process that ends does not look whether lanes were handed to it",
    replace: [
      {
        file: "component/push/mainLoop.ts",
        text: "const rows = await rowsHandedTo(ctx.db, row._id);",
        by: "const rows = (await rowsHandedTo(ctx.db, row._id)).slice(0, 0);",
      },
    ],
    finds: ["processes", "promise", "simulation", "begun"],
  },
  {
    name: "a process to which lanes are handed does not look for them",
    replace: [
      {
        file: "lane/process.ts",
        text: "this.start.receives ? this.lookNowAndThen() : () => undefined;",
        by: "() => undefined;",
      },
    ],
    finds: ["promise", "simulation", "begun"],
  },
  {
    name: "the places of processes are not added up",
    replace: [
      {
        file: "shared/mainLoop.ts",
        text: "const taken = grants.reduce((sum, { extra }) => sum + extra, 0);",
        by: "const taken = grants.reduce((sum, { extra }) => Math.max(sum, extra), 0);",
      },
    ],
    finds: ["processes"],
  },
  {
    name: "a process that was lost keeps its slot",
    replace: [
      {
        file: "component/tend/sweepPlan.ts",
        text: "processes: await findLost(ctx.db),",
        by: "processes: (void findLost, []),",
      },
    ],
    finds: ["processes", "promise"],
    needs: ["lost processes"],
  },
  {
    name: "the places of a process that has ended are not given back",
    replace: [
      {
        file: "component/push/mainLoop.ts",
        text: "dropPlaces(ctx, row._id),",
        by: "void dropPlaces,",
      },
    ],
    finds: ["processes"],
  },
  {
    name: "a process that has been lost ends the one that has its slot now",
    replace: [
      {
        file: "component/push/grants.ts",
        text: "return row?.generation === generation ? row : null;",
        by: "return generation < 0 ? null : row;",
      },
    ],
    finds: ["processes", "promise", "simulation", "runs as promised"],
    needs: ["lost processes"],
  },
  {
    name: "a process that was refused places never asks again",
    isUnfound: true,
    replace: [
      {
        file: "lane/process.ts",
        text: "      // It asks again.\n    }",
        by: "      return;\n    }",
      },
    ],
    finds: ["promise", "begun"],
    needs: ["slow processes"],
  },
];

export const PROCESSES: readonly Mutant[] = [
  ...planted.map((one) => ({ where: hasMany, ...one })),
  {
    name: "a lane goes on when its process takes no more jobs",
    replace: [
      {
        file: "component/rows/processTime.ts",
        text: "return now + timeoutOf(queue) <= endsAt && now <= openUntil;",
        by: "return now < endsAt && openUntil > 0;",
      },
    ],
    finds: ["processes"],
    queues: ["inlined"],
  },
];
