/**
 * The program of a thread that evaluates one push: modules of the app run there, and only their definitions come back.
 */
import { parentPort, workerData } from "node:worker_threads";
import { PlatformError } from "../functions/errors.js";
import { followContexts, sortRejections } from "../functions/rejections.js";
import { taskOfThread } from "../functions/threads/task.js";
import { evaluate } from "./evaluation.js";
import { sandboxImporter, type Importer } from "./importing.js";
import { SharedText } from "./sharedText.js";
import type { EvaluationData, FromEvaluation } from "./threadEvaluation.js";

const { request, env, deployed, importing } = workerData as EvaluationData;
const announcement = new SharedText(importing);

function tell(message: FromEvaluation): void {
  parentPort!.postMessage(message);
}

/** Announces an import before it begins: it may never end. */
function announced(importer: Importer): Importer {
  return (modules) => {
    const importable = importer(modules);
    return {
      import: (path, what) => {
        announcement.set(what);
        return importable.import(path, what);
      },
    };
  };
}

followContexts();
sortRejections();
// A thread ends when nothing is left to do: one with a module that awaits a value that never comes must still send its
// news.
parentPort!.on("message", () => {});
tell({ kind: "ready", task: taskOfThread() });
evaluate(request, announced(sandboxImporter(env)), deployed).then(
  (evaluation) => tell({ kind: "evaluated", evaluation }),
  (error: unknown) => {
    const { status, code, message } =
      error instanceof PlatformError
        ? error
        : { status: 500, code: "InternalServerError", message: String(error) };
    tell({ kind: "refused", status, code, message });
  },
);
