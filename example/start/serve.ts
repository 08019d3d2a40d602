/** `npm start`: keeps the farm open until somebody stops it, and says what happens to its programs meanwhile. */
import { describe, type Child } from "./child.js";
import type { Children } from "./children.js";
import type { Farm } from "./farm.js";
import { servePage } from "./page.js";
import { say, step } from "./steps.js";

/** Goes on until it is interrupted. Returns, with the exit code, only when the backend dies. */
export async function serve({ backend, workers, children, options }: Farm): Promise<number> {
  const page = await step("Serving the page", () => servePage(options.pagePort, backend.url));
  say(`\n  Open  ${page}`);
  say(`  The queues, for those who run the farm:  ${new URL("dashboard.html", page).href}\n`);
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

/** A worker may die: that is what the queue is for. The others go on, and who watches is told. */
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
        ? `What it held goes to ${left.join(" and ")} when its lease is over.\n`
        : "Nobody is left: tiles wait until a worker comes.\n"),
  );
}
