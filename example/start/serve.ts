/** `npm start`: keeps the farm open until it is stopped, and reports the ends of its programs meanwhile. */
import { describe, type Child } from "./child.js";
import type { Children } from "./children.js";
import type { Farm } from "./farm.js";
import { servePage } from "./page.js";
import { say, step } from "./steps.js";

/** Goes on until it is interrupted. Returns, with the exit code, only when the backend dies. */
export async function serve({ backend, workers, children, options }: Farm): Promise<number> {
  const page = await step("Serving the page", () => servePage(options.pagePort, backend.url));
  say(`\n  Open  ${page}`);
  say(`  The queues, for operators of the farm:  ${new URL("dashboard.html", page).href}\n`);
  say(`  Workers: ${workers.map(({ name, pid }) => `${name} (pid ${pid})`).join(", ")}`);
  say(`  Kill one while a picture is drawn and nothing is lost: kill -9 ${workers[0]!.pid}`);
  say("  Ctrl-C stops everything.\n");
  for (const child of [backend.child, ...workers]) {
    child.onLine((line) => say(`${child.name} | ${line}`));
  }
  for (const worker of workers) void reportDeath(worker, workers, children);

  const ending = await backend.child.ended;
  if (!children.isStopping) {
    say(
      `\n${backend.child.name} ${describe(ending)}. Without it nothing goes on. Its last words:\n`,
    );
    say(backend.child.lastWords);
  }
  return 1;
}

/** A worker may die: the queue exists for that. The other workers go on, and the terminal shows it. */
async function reportDeath(
  worker: Child,
  workers: readonly Child[],
  children: Children,
): Promise<void> {
  const ending = await worker.ended;
  if (children.isStopping) return;
  const left = workers.filter(({ alive }) => alive).map(({ name }) => name);
  say(
    `\n${worker.name} ${describe(ending)}. ` +
      (left.length > 0
        ? `Its tiles go to ${left.join(" and ")} when its lease is over.\n`
        : "No worker is left: tiles wait until one comes.\n"),
  );
}
