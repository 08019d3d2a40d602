#!/usr/bin/env node
/** `npx convex-conveyor`: commands for one's own machine. */
import { DASHBOARD_USAGE, readDashboardOptions } from "./options.js";
import { probe } from "./probe.js";
import { serve } from "./serve.js";
import { work } from "./work.js";
import { readWorkOptions, UsageError, WORK_USAGE } from "./workOptions.js";

const USAGE = `npx convex-conveyor COMMAND

  dashboard   Shows the queues, jobs and workers of a deployment in a browser.
  work        Runs a worker module in several processes.

Options: npx convex-conveyor COMMAND --help`;

async function dashboard(args: string[]): Promise<void> {
  const options = readDashboardOptions(args, process.env);
  if (options === null) return say(DASHBOARD_USAGE);
  await probe(options);
  const { port, ...target } = options;
  const served = await serve(target, { port });
  say(
    `Dashboard of ${options.url}, for this machine only:\n\n  ${served.url}\n\nPress Ctrl-C to stop.`,
  );
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void served.close());
}

async function runWorkers(args: string[]): Promise<void> {
  const options = readWorkOptions(args);
  if (options === null) return say(WORK_USAGE);
  await work(options, say);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A `ConvexError` has its words for people in its data. */
function messageOf(error: unknown): string {
  const { data, message } = error as { data?: { message?: string }; message?: string };
  return data?.message ?? message ?? String(error);
}

function fail(text: string, code: number): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = code;
}

const [command, ...args] = process.argv.slice(2);
try {
  if (command === "dashboard") await dashboard(args);
  else if (command === "work") await runWorkers(args);
  else if (command === undefined || command === "--help") say(USAGE);
  else fail(`Unknown command "${command}".\n\n${USAGE}`, 1);
} catch (error) {
  fail(messageOf(error), error instanceof UsageError ? 2 : 1);
}
