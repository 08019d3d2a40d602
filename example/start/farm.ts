/** The farm: backend, functions, token, workers, one after the other. */
import { startBackend, type RunningBackend } from "./backend.js";
import type { Child } from "./child.js";
import type { Children } from "./children.js";
import { createToken, pushFunctions } from "./functions.js";
import { buildLibrary, libraryIsStale } from "./library.js";
import type { StartOptions } from "./options.js";
import { say, step } from "./steps.js";
import { startWorkers } from "./workers.js";

export interface Farm {
  readonly children: Children;
  readonly backend: RunningBackend;
  readonly token: string;
  readonly workers: readonly Child[];
  readonly options: StartOptions;
}

export async function startFarm(children: Children, options: StartOptions): Promise<Farm> {
  say("Conveyor's render farm\n");
  if (libraryIsStale()) await step("Building the library", () => buildLibrary(children));
  const backend = await step("Starting the local backend", () => startBackend(children));
  await step("Pushing the functions with the Convex CLI", () => pushFunctions(children, backend));
  const token = await step("Making a worker's token", () => createToken(children, backend));
  const workers = await step(`Starting ${options.workers} workers`, () =>
    startWorkers(children, backend, token, options.workers),
  );
  return { children, backend, token, workers, options };
}
