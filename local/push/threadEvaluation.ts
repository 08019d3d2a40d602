/**
 * Evaluates a push in a thread of its own: a module that never comes to an end while it is imported costs the push, and
 * all that its contexts take goes with the thread.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Environment } from "../environment.js";
import { PlatformError } from "../functions/errors.js";
import { programOf } from "../functions/threads/bundle.js";
import { LOADING_TIME_MS, V8_HEAP_MIB, WATCH_EVERY_MS } from "../functions/threads/limits.js";
import { Meter } from "../functions/threads/meter.js";
import type { ModuleSource } from "../functions/types.js";
import type { Evaluation } from "./evaluation.js";
import { failure } from "./failures.js";
import type { PushRequest } from "./request.js";
import { SharedText } from "./sharedText.js";

export interface EvaluationTask {
  request: PushRequest;
  env: ReadonlyMap<string, string>;
  deployed: ReadonlyMap<string, ModuleSource>;
}

/**
 * The thread's input: the task, and the place for the name of the module that it is importing, for when no more
 * messages come.
 */
export interface EvaluationData extends EvaluationTask {
  importing: SharedArrayBuffer;
}

export type FromEvaluation =
  | { kind: "ready"; task: number | null }
  | { kind: "evaluated"; evaluation: Evaluation }
  | { kind: "refused"; status: number; code: string; message: string };

/**
 * A module that awaits a value that never comes takes no time of its own: so many limits are waited for all of it. An
 * assumption.
 */
const PATIENCE = 6;
const PROGRAM = path.join(path.dirname(fileURLToPath(import.meta.url)), "evaluationGuest.ts");

export async function evaluateInThread(
  env: Environment,
  task: EvaluationTask,
  limitMs = LOADING_TIME_MS,
): Promise<Evaluation> {
  const importing = new SharedText();
  importing.set("the push");
  const worker = new Worker(await programOf(PROGRAM), {
    eval: true,
    execArgv: ["--experimental-vm-modules", "--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: V8_HEAP_MIB },
    workerData: { ...task, importing: importing.buffer } satisfies EvaluationData,
  });
  try {
    return withOwnModules(await outcomeOf(worker, env, limitMs, importing), task);
  } finally {
    await worker.terminate();
  }
}

function outcomeOf(
  worker: Worker,
  env: Environment,
  limitMs: number,
  importing: SharedText,
): Promise<Evaluation> {
  const meter = new Meter(worker);
  meter.begin(1, limitMs);
  const startedAt = env.now();
  return new Promise<Evaluation>((resolve, reject) => {
    const fail = (why: string) => {
      const begin = "Loading the pushed modules encountered the following error:\n";
      reject(failure("InvalidModules", `${begin}Failed to analyze ${importing.get()}: ${why}`));
    };
    const look = () => {
      const waits = env.now() - startedAt;
      if (meter.overrun() === null && waits < limitMs * PATIENCE)
        return void (timer = env.timer(WATCH_EVERY_MS, look));
      fail(
        `its modules take too long to evaluate (maximum duration: ${limitMs / 1000}s for all of a push). ` +
          `A module may only define things: move work into a function.`,
      );
    };
    let timer = env.timer(WATCH_EVERY_MS, look);
    const ended = () => timer.cancel();
    worker.on("message", (message: FromEvaluation) => {
      if (message.kind === "ready") meter.task = message.task;
      else if (message.kind === "evaluated") resolve(message.evaluation);
      else reject(new PlatformError(message.status, message.code, message.message));
    });
    worker.on("error", (error) => fail(`Uncaught ${error.name}: ${error.message}`));
    worker.on("exit", (code) => (ended(), fail(`it ended its process: process.exit(${code})`)));
  });
}

/** The result is a copy. Modules that are the same stay the same objects: V8's code of them is kept by object. */
function withOwnModules(evaluation: Evaluation, { request, deployed }: EvaluationTask): Evaluation {
  for (const [definition, { component }] of evaluation.definitions) {
    const source = [request.app, ...request.components].find(({ path }) => path === definition);
    const sent = new Map((source?.modules ?? []).map((module) => [module.path, module]));
    for (const [name, module] of component.modules) {
      const own = [deployed.get(name), sent.get(name)].find(
        (known) => known?.source === module.source && known.environment === module.environment,
      );
      if (own !== undefined) component.modules.set(name, own);
    }
  }
  return evaluation;
}
