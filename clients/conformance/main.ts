/** The conformance script: `npx tsx clients/conformance/main.ts`, with `--help` for its two parts. */
import { parseArgs } from "node:util";
import type { Check } from "./messages.js";
import { checkServer } from "./serverChecks.js";
import { checkWorker } from "./workerChecks.js";

const HELP = `Checks the protocol of Conveyor's workers.

  main.ts worker [--without-reports] -- COMMAND ...
                                   plays a deployment for the worker that COMMAND starts
  main.ts server [options]         plays a worker for a deployment

Options of server:
  --url URL           the deployment                         (CONVEX_URL)
  --token TOKEN       a worker token for the queue           (CONVEYOR_TOKEN)
  --module PATH       the module with the worker functions, as in workers
  --queue NAME        a queue without other workers and without jobs
  --enqueue FUNCTION  a mutation { queue, payload }, as conveyor.api exports it: jobs:enqueue
  --payload JSON      a payload of the queue
  --result JSON       a result of the queue

docs/reference/protocol.md has the protocol, clients/conformance/README.md the worker's handler.`;

process.exitCode = await main(process.argv.slice(2));

async function main([part, ...rest]: string[]): Promise<number> {
  const [before, [command, ...args]] = splitAt(rest, "--");
  if (part === "worker" && command !== undefined) {
    const hasReports = !before.includes("--without-reports");
    return print(await checkWorker({ command, args, hasReports }));
  }
  if (part === "server") return print(await checkServer(serverOptions(rest)));
  console.log(HELP);
  return part === "--help" ? 0 : 1;
}

function splitAt(all: string[], mark: string): [string[], string[]] {
  const at = all.indexOf(mark);
  return at < 0 ? [all, []] : [all.slice(0, at), all.slice(at + 1)];
}

function serverOptions(args: string[]) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: {
      url: text,
      token: text,
      module: text,
      queue: text,
      enqueue: text,
      payload: text,
      result: text,
    },
  });
  const given = (name: keyof typeof values, otherwise?: string): string => {
    const value = values[name] ?? otherwise;
    if (value !== undefined) return value;
    throw new Error(`--${name} is missing.\n\n${HELP}`);
  };
  return {
    url: given("url", process.env["CONVEX_URL"]),
    token: given("token", process.env["CONVEYOR_TOKEN"]),
    module: given("module"),
    queue: given("queue"),
    enqueue: given("enqueue"),
    payload: JSON.parse(given("payload")) as unknown,
    result: JSON.parse(given("result")) as unknown,
  };
}

function print(checks: readonly Check[]): number {
  for (const { rule, isKept, detail } of checks) {
    console.log(`${isKept ? "ok    " : "BROKEN"} ${rule}${isKept ? "" : `\n       ${detail}`}`);
  }
  return checks.every(({ isKept }) => isKept) ? 0 : 1;
}
