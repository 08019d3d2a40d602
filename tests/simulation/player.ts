/** A process that plays the seeds it receives, one at a time. */
import { Seeds, type SeedOptions, type SeedReport } from "./seeds.js";
import type { Bug } from "../planted/change.js";

/** The first word to it, and again when other bugs are to be planted. */
export interface Start {
  bugs: readonly Bug[];
}

/** Every other. */
export interface Ask extends SeedOptions {
  seed: number;
}

/** Its answer. `error`: the simulator itself has failed. */
export type Answer = { report: SeedReport } | { error: string };

let seeds: Promise<Seeds> | undefined;

process.on("message", (message: Start | Ask) => {
  if ("bugs" in message) {
    seeds = Seeds.build(message.bugs);
    return;
  }
  answerTo(message).then(
    (answer) => process.send!(answer),
    (error: unknown) => process.send!({ error: textOf(error) }),
  );
});

// A parent that is killed cannot close it.
process.once("disconnect", () => process.exit());

async function answerTo({ seed, ...options }: Ask): Promise<Answer> {
  try {
    return { report: await (await seeds!).play(seed, options) };
  } catch (error) {
    return { error: textOf(error) };
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
