/**
 * Makes a failing plan smaller: leaves out pieces while it fails in the same way, in ever smaller pieces (delta debugging, as of
 * Zeller and Hildebrandt 2002, with single cuts at last).
 */
import { candidates, type Cut } from "./cuts.js";
import type { Plan } from "./plan.js";

/** `fails` plays the plan with these cuts. Nothing more is tried once it `isOver`. */
export async function shrink(
  plan: Plan,
  fails: (cuts: readonly Cut[]) => Promise<boolean>,
  isOver: () => boolean = () => false,
): Promise<Cut[]> {
  let cuts: Cut[] = [];
  let left = candidates(plan);
  for (let size = Math.ceil(left.length / 2); size >= 1 && !isOver();) {
    let isSmaller = false;
    for (let at = 0; at < left.length && !isOver();) {
      const piece = left.slice(at, at + size);
      if (await fails([...cuts, ...piece])) {
        cuts = [...cuts, ...piece];
        left = left.filter((cut) => !piece.includes(cut));
        isSmaller = true;
      } else at += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!isSmaller) break;
  }
  return withoutImplied(plan, cuts);
}

/** Cuts that another cut implies would only clutter the line: an event of a removed part is gone already. */
function withoutImplied(plan: Plan, cuts: readonly Cut[]): Cut[] {
  const gone = new Set(cuts);
  return cuts.filter((cut) => {
    const [kind, which] = cut.split(":") as [string, string | undefined];
    if (kind === "job") return !gone.has(`event:${which!.split(".")[0]}`);
    if (kind !== "event") return true;
    return !gone.has(`part:${plan.events[Number(which)]!.do.split(".")[0]!}`);
  });
}
