/** Plants every bug in turn, and says in how many seeds it is found. */
import { replayLine, sayFailure } from "../failures.js";
import { drawPlan } from "../draws.js";
import { Players, type Outcome } from "../players.js";
import { MUTANTS } from "./all.js";
import { readFound, writeFound, type Find } from "./found.js";
import { mayShow, WITHIN, type Mutant } from "./mutant.js";

export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found !== undefined) return found;
  const names = MUTANTS.map((mutant) => `  ${mutant.name}`).join("\n");
  throw new Error(`There is no mutant "${name}", only:\n${names}`);
}

/** The checker that finds it there; `null` if none does that should. */
export function foundBy(outcome: Outcome, { finds }: Mutant): string | null {
  if ("error" in outcome) return null;
  const [first] = outcome.report.violations;
  return first !== undefined && finds.includes(first.checker) ? first.checker : null;
}

/** The cuts of a seed that the bug needs uncut: with them it must do no harm. */
export const without = ({ needs = [] }: Mutant): string[] => needs.map((part) => `part:${part}`);

interface Tried {
  /** In the first seed that finds it. */
  find: Find | null;
  /** Failures before that, found by other checkers only. */
  others: Outcome[];
  /** Found also without the parts that it needs. */
  also: Find[];
}

/** Plays seeds from 1 on until one finds it, and does not without the parts that it needs. */
export async function tryMutant(mutant: Mutant): Promise<Tried> {
  const players = new Players([mutant]);
  let seed = 0;
  const tried: Tried = { find: null, others: [], also: [] };
  const next = () => {
    while (tried.find === null && ++seed <= WITHIN) {
      if (mayShow(mutant, drawPlan(seed))) return seed;
    }
    return undefined;
  };
  const candidates: Find[] = [];
  try {
    while (tried.find === null && seed < WITHIN) {
      await players.play(
        () => (candidates.length > 0 ? undefined : next()),
        (outcome) => {
          const by = foundBy(outcome, mutant);
          if (by !== null) candidates.push({ seed: outcome.seed, by });
          else if ("error" in outcome || outcome.report.violations.length > 0) {
            tried.others.push(outcome);
          }
        },
      );
      // Of seeds that are played at the same time the first counts.
      for (const find of candidates.sort((a, b) => a.seed - b.seed)) {
        if (tried.find !== null) continue;
        if (await isNeeded(players, mutant, find.seed)) tried.find = find;
        else tried.also.push(find);
      }
      candidates.length = 0;
    }
  } finally {
    players.close();
  }
  return tried;
}

async function isNeeded(players: Players, mutant: Mutant, seed: number): Promise<boolean> {
  if (mutant.needs === undefined) return true;
  const outcome = await players.one(seed, { cuts: without(mutant) });
  return "report" in outcome && outcome.report.violations.length === 0;
}

/** `writes`: keeps the seeds, and the table. `only`: bugs with matching names. */
export async function tryMutants({
  writes,
  only,
}: {
  writes: boolean;
  only: string | null;
}): Promise<number> {
  let missed = 0;
  const found = await readFound();
  const meant = MUTANTS.filter(({ name }) => only === null || new RegExp(only).test(name));
  for (const mutant of meant) {
    const { find, others, also } = await tryMutant(mutant);
    const { name } = mutant;
    if (find === null) {
      missed += 1;
      delete found[name];
      const [first] = also;
      const why =
        first === undefined ? "" : `, but without the parts that it needs in seed ${first.seed}`;
      console.log(`${name}: not found in ${WITHIN} seeds${why}`);
    } else {
      found[name] = find;
      console.log(`${name}: found by "${find.by}" in seed ${find.seed}`);
    }
    for (const outcome of find === null ? others.slice(0, 3) : []) {
      console.error(`${sayFailure(outcome)}\n  ${replayLine(outcome.seed, { mutant: name })}`);
    }
    if (writes) await writeFound(found);
  }
  return missed === 0 ? 0 : 1;
}
