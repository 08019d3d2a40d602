#!/usr/bin/env node
/** `npx convex-conveyor`: commands for one's own machine. */
import { DASHBOARD_USAGE, readDashboardOptions } from "./options.js";
import { probe } from "./probe.js";
import { serve } from "./serve.js";

const USAGE = `npx convex-conveyor COMMAND

  dashboard   Shows the queues, jobs and workers of a deployment in a browser.

Options: npx convex-conveyor dashboard --help`;

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

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}

const [command, ...args] = process.argv.slice(2);
try {
  if (command === "dashboard") await dashboard(args);
  else if (command === undefined || command === "--help") say(USAGE);
  else fail(`Unknown command "${command}".\n\n${USAGE}`);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
