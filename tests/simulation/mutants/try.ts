/** Plants every bug in turn, and says in how many seeds it is found. */
import { isFailure, replayLine, sayFailure } from "../failures.js";
import { Players, type Outcome } from "../players.js";
import { MUTANTS } from "./all.js";
import type { Mutant } from "./mutant.js";

export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found !== undefined) return found;
  const names = MUTANTS.map((mutant) => `  ${mutant.name}`).join("\n");
  throw new Error(`There is no mutant "${name}", only:\n${names}`);
}

export interface Tried {
  /** The first seed that finds it; `null` when none did. */
  seed: number | null;
  outcome: Outcome | null;
}

/** Plays seeds from 1 on until one fails. */
export async function tryMutant({ replace, within }: Mutant): Promise<Tried> {
  const players = new Players(replace);
  let seed = 1;
  let found: Outcome | null = null;
  try {
    await players.play(
      () => (found === null && seed <= within ? seed++ : undefined),
      (outcome) => {
        // Of those that are played at the same time the first counts.
        if (isFailure(outcome) && (found === null || outcome.seed < found.seed)) found = outcome;
      },
    );
  } finally {
    players.close();
  }
  const outcome = found as Outcome | null;
  return { seed: outcome?.seed ?? null, outcome };
}

/** Whether it was found, and by one of those that should. */
export function isFound({ outcome }: Tried, { finds }: Mutant): boolean {
  if (outcome === null || "error" in outcome) return false;
  return outcome.report.violations.some(({ checker }) => finds.includes(checker));
}

export async function tryMutants(): Promise<number> {
  let missed = 0;
  console.log("| planted | found by | in seeds | of at most |\n| --- | --- | ---: | ---: |");
  for (const mutant of MUTANTS) {
    const tried = await tryMutant(mutant);
    const isIt = isFound(tried, mutant);
    if (!isIt) missed += 1;
    const by =
      tried.outcome !== null && "report" in tried.outcome
        ? tried.outcome.report.violations[0]!.checker
        : "nobody";
    console.log(`| ${mutant.name} | ${by} | ${tried.seed ?? "–"} | ${mutant.within} |`);
    if (!isIt && tried.outcome !== null) {
      const line = replayLine(tried.outcome.seed, { mutant: mutant.name });
      console.error(`${sayFailure(tried.outcome)}\n  ${line}`);
    }
  }
  return missed === 0 ? 0 : 1;
}
