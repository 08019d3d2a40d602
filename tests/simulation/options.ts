/** The command line of `npm run simulate`. */
import { parseArgs } from "node:util";

export interface Options {
  help: boolean;
  /** One seed, again: with its trace. */
  seed: number | null;
  cuts: string[];
  /** The first of many. */
  from: number | null;
  /** So many. Defaults to as many as there is time for. */
  seeds: number;
  seconds: number;
  mutant: string | null;
  /** Tries every mutant. */
  mutants: boolean;
  /** Only parts and bugs with matching names. */
  only: string | null;
  /** Keeps which seed finds which. */
  write: boolean;
  /** Plays slices of verified seeds once more. */
  verify: boolean;
  /** Plays so many seeds from 1 on, and writes down that they were. */
  record: number | null;
  /** A module that exports `handle`, the handlers' work. */
  handlers: string | null;
  /** Prints the table of events, with the number of seeds of each. */
  coverage: boolean;
}

const DEFAULT_SECONDS = 40;

export const USAGE = `npm run simulate -- [options]

  --seconds=40         for how long
  --from=N             the first seed; a random one if nothing is said
  --seeds=N            so many seeds, however long that takes
  --seed=N             one seed again, with its trace in .simulation/
  --cut="…"            leaves out parts of that seed's plan, as a failure's line says
  --handlers=FILE      lets the handlers do what this module's \`handle\` does: see docs/internals/testing.md
  --mutants            plants every bug in turn, and says in how many seeds it is found
  --only="…"           of these only such whose names match this regular expression
  --write              keeps the seeds that find them, and the table in docs/internals/testing.md
  --mutant="…"         plants the one with this exact name
  --coverage           the whole table of what has happened, not only what has not
  --verify             plays slices of the seeds in tests/simulation/verified.json again
  --record=N           plays seeds 1 to N, from --from on first, and writes that file; goes on where it was stopped;
                       with --seeds=S only so many from there on
`;

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      seed: { type: "string" },
      cut: { type: "string", default: "" },
      from: { type: "string" },
      seeds: { type: "string" },
      seconds: { type: "string" },
      mutant: { type: "string" },
      mutants: { type: "boolean", default: false },
      only: { type: "string" },
      write: { type: "boolean", default: false },
      verify: { type: "boolean", default: false },
      record: { type: "string" },
      handlers: { type: "string" },
      coverage: { type: "boolean", default: false },
    },
  });
  const seeds = whole("seeds", values.seeds);
  const seconds = whole("seconds", values.seconds);
  return {
    help: values.help,
    seed: whole("seed", values.seed),
    cuts: values.cut === "" ? [] : values.cut.split(","),
    from: whole("from", values.from),
    seeds: seeds ?? Infinity,
    seconds: seconds ?? (seeds === null ? DEFAULT_SECONDS : Infinity),
    mutant: values.mutant ?? null,
    mutants: values.mutants,
    only: values.only ?? null,
    write: values.write,
    verify: values.verify,
    record: whole("record", values.record),
    handlers: values.handlers ?? null,
    coverage: values.coverage,
  };
}

function whole(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error(`--${name} is a whole number, not "${text}".`);
}
