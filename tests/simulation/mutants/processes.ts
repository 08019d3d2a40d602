/** Bugs in the main loop: in slots, places and hand-overs, and in the processes that have them. */
import type { Plan } from "../plan.js";
import { having, type Mutant } from "./mutant.js";

const hasMany = ({ crowd }: Plan): boolean => Object.keys(crowd).length > 1;

const planted: readonly Mutant[] = [
  {
    name: "a process that ends does not look whether lanes were handed to it",
    changes: [{ in: "mainLoop.ts:closeOf", call: "rowsHandedTo", gives: "($it).slice(0, 0)" }],
    finds: ["processes", "promise", "simulation", "begun"],
  },
  {
    name: "a process to which lanes are handed does not look for them",
    changes: [{ in: "process.ts:Process.live", condition: "receives", is: false }],
    finds: ["promise", "simulation", "begun"],
  },
  {
    name: "the places of processes are not added up",
    changes: [{ in: "mainLoop.ts:placesLeft", from: "sum + extra", to: "Math.max(sum, extra)" }],
    finds: ["processes"],
  },
  {
    name: "a process that was lost keeps its slot",
    changes: [{ in: "sweepPlan.ts:findLostLeases", call: "findLost", gives: "[]" }],
    finds: ["processes", "promise"],
    needs: ["lost processes"],
  },
  {
    name: "the places of a process that has ended are not given back",
    changes: [{ in: "mainLoop.ts:free", without: "dropPlaces" }],
    finds: ["processes"],
  },
  {
    name: "a process that has been lost ends the one that has its slot now",
    changes: [{ in: "grants.ts:ownRow", condition: "generation", is: true }],
    finds: ["processes", "promise", "simulation", "runs as promised"],
    needs: ["lost processes"],
  },
  {
    name: "a process that was refused places never asks again",
    shownBy: "tests/planted/shown.long.test.ts",
    changes: [{ in: "process.ts:Process.askForPlaces", from: "catch {}", to: "catch { return; }" }],
    finds: ["promise", "begun"],
    needs: ["slow processes"],
  },
];

export const PROCESSES: readonly Mutant[] = [
  ...planted.map((one) => ({ where: hasMany, ...one })),
  {
    name: "a lane whose step was refused makes no other",
    changes: [{ in: "lane/loop.ts:Loop.step", value: "lookAt", is: "(this.isOver = true, null)" }],
    finds: ["simulation", "processes", "promise", "begun", "blame", "leases", "parallelism"],
    needs: ["slow processes"],
    where: having("slow processes.begin", { of: "push/laneStep:stepLane" }),
  },
  {
    name: "a lane goes on when its process takes no more jobs",
    changes: [
      {
        in: "processTime.ts:takesMore",
        condition: "endsAt openUntil",
        is: "now < endsAt && openUntil > 0",
      },
    ],
    finds: ["processes"],
    queues: ["inlined"],
  },
];
