/** Every pair without one of its guards, and the violation that follows. */
import { withoutGuard, type deploymentOf } from "../races/deployment.js";
import { Violation } from "../races/world.js";
import { play, type Mutant, type Pair } from "./pair.js";
import { PAIRS, SMALL } from "./pairs/all.js";

export const MUTANTS = PAIRS.flatMap((pair) =>
  pair.mutants.map((mutant) => ({ pair, mutant, of: pair.of, without: mutant.without })),
);

/** Each bundles the component anew: of so many the quick tests play one, of small pairs, and the long tests the rest. */
const QUICK_PART = 36;

export const QUICK = MUTANTS.filter(({ pair }) => SMALL.includes(pair)).filter(
  (_, i) => i % QUICK_PART === 0,
);

/** The first violation that an order shows, or that none does. */
export async function violation(
  sound: Awaited<ReturnType<typeof deploymentOf>>,
  pair: Pair,
  { without, changes, unvalidated }: Mutant,
): Promise<string> {
  const deployment =
    changes === undefined ? sound : await withoutGuard(sound, { name: without, changes });
  try {
    const { orders } = await play(deployment, pair, { validates: unvalidated !== true });
    return `nothing was found in ${orders} orders`;
  } catch (error) {
    if (error instanceof Violation) return error.message;
    throw error;
  }
}
