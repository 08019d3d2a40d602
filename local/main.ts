/** `npm run backend`: the local backend as a program. Options, output, exit codes; the rest is `backend.ts`. */
import { resolve } from "node:path";
import { startBackend, type Backend } from "./backend.js";
import { printedStats } from "./stats/print.js";
import { onStopSignal } from "./stopSignals.js";
import { HELP, readOptions, type BackendArguments } from "./options.js";

await main();

async function main(): Promise<void> {
  let args: BackendArguments | "help";
  try {
    args = readOptions(process.argv.slice(2));
  } catch (error) {
    fail((error as Error).message);
    return;
  }
  if (args === "help") {
    console.log(HELP);
    return;
  }
  let backend: Backend;
  try {
    backend = await startBackend({
      port: args.port,
      host: args.host,
      quiet: args.quiet,
      class: args.class,
      ...(args.sitePort === undefined ? {} : { sitePort: args.sitePort }),
      ...(args.adminKey === undefined ? {} : { adminKey: args.adminKey }),
      ...(args.data === undefined ? {} : { data: args.data }),
    });
  } catch (error) {
    fail(whyNotStarted(error as NodeJS.ErrnoException, args));
    return;
  }
  // Before its output shows that it runs, and a signal can come.
  if (args.stats) process.on("SIGUSR2", () => printStats(backend));
  stopOnSignal(backend, args);
  announce(backend, args);
}

function whyNotStarted(
  error: NodeJS.ErrnoException & { port?: number },
  { port: asked, sitePort, host }: BackendArguments,
): string {
  const port = error.port ?? asked;
  const option = port === sitePort ? "--site-port" : "--port";
  switch (error.code) {
    case "EADDRINUSE":
      return (
        `Port ${port} on ${host} is taken: another backend may be running. ` +
        `Stop it, or choose another port: npm run backend -- ${option} ${port + 2}`
      );
    case "EACCES":
      return `This user may not listen on port ${port}. Choose one above 1023.`;
    case "DataFolderUnusable":
    case "DataFileForeign":
    case "DataFileTooNew":
    case "DataFileDamaged":
    case "DataFileInUse":
      return error.message;
    default:
      return `The local backend could not start: ${error.message}`;
  }
}

function announce({ url, siteUrl, adminKey }: Backend, { data }: BackendArguments): void {
  console.log(`The local backend listens on ${url}`);
  console.log(`HTTP actions: ${siteUrl}`);
  console.log(
    data === undefined ? "Data: in memory, gone when it stops" : `Data: ${resolve(data)}`,
  );
  console.log(`Admin key: ${adminKey}`);
  console.log(`\nFor the CLI, in a shell or in .env.local:\n`);
  console.log(`CONVEX_SELF_HOSTED_URL='${url}'`);
  console.log(`CONVEX_SELF_HOSTED_ADMIN_KEY='${adminKey}'\n`);
}

/** The first signal waits for running functions; the second does not. */
function stopOnSignal(backend: Backend, { stats }: BackendArguments): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    void backend.close().then(() => {
      if (stats) printStats(backend);
      process.exit(0);
    });
  };
  onStopSignal(stop);
}

function printStats({ stats }: Backend): void {
  console.log(`\n${printedStats(stats.snapshot())}\n`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
