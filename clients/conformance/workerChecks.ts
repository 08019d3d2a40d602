/**
 * Plays a deployment's part for a worker that is given as a command, and returns each rule with whether it was kept.
 * The README says which handler the worker has, and which variables tell it its configuration.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { check, isSame, type Check, type Json } from "./messages.js";
import { MODULE, QUEUE, ScriptedServer, TOKEN, type ScriptedJob } from "./scriptedServer.js";

export interface Command {
  command: string;
  args: string[];
  env?: Record<string, string>;
  /**
   * Whether it reports logs and output.
   * @default true
   */
  hasReports?: boolean;
  /** Its output is not shown. */
  isQuiet?: boolean;
  /**
   * How long it may take for all jobs, from its first call on.
   * @default 45_000
   */
  limitMs?: number;
}

/** A process may take long to start on a busy machine. */
const START_MS = 30_000;
const CONCURRENCY = 2;
const VALUE = {
  null: null,
  list: [1, 0.5, "é 🙂", true],
  long: { $integer: "BQAAAAAAAAA=" },
  bytes: { $bytes: "aGk=" },
  infinite: { $float: "AAAAAAAA8H8=" },
};

/** Fresh for each run: the server counts their troubles down. */
function script(): ScriptedJob[] {
  const short = { leaseMs: 1_200 };
  return [
    { id: "value", payload: { do: "return", value: VALUE } },
    { id: "repeated", payload: { do: "return", value: 1 }, complete: { lost: 1, unavailable: 1 } },
    { id: "refused", payload: { do: "return", value: 2 }, complete: { refused: 2 } },
    { id: "beside", payload: { do: "return", value: 3 } },
    { id: "canceled", payload: { do: "wait" }, ...short, cancelAfterMs: 200 },
    { id: "lost", payload: { do: "sleep", ms: 900 }, ...short, loseAfterMs: 200 },
    { id: "fails", payload: { do: "fail", message: "it is broken" } },
    { id: "failsForGood", payload: { do: "failForGood", message: "there is none" } },
    { id: "says", payload: { do: "say" }, reportsLost: 1 },
  ];
}

/** Given when all jobs before them are recorded. */
function laterJobs(): ScriptedJob[][] {
  const long = { payload: { do: "sleep", ms: 2_000 }, leaseMs: 1_200 };
  return [
    // Two at once fill the worker: then no claim is a beat for them.
    [
      { id: "long", ...long },
      { id: "longToo", ...long },
    ],
    // SIGTERM comes while it runs.
    [{ id: "last", payload: { do: "sleep", ms: 800 } }],
    [{ id: "never", payload: { do: "return", value: null } }],
  ];
}

/** All checks of a worker. Takes about ten seconds. */
export async function checkWorker(command: Command): Promise<Check[]> {
  const [work, refused] = await Promise.all([checkWork(command), checkRefusedToken(command)]);
  return [...work, refused];
}

async function checkWork(command: Command): Promise<Check[]> {
  const jobs = script();
  const server = new ScriptedServer([...jobs], { concurrency: CONCURRENCY, claimsLost: 1 });
  server.later = laterJobs();
  const url = await server.start();
  const worker = startWorker(command, url);
  try {
    await until(() => server.messages.length > 0 || worker.exitCode !== null, START_MS);
    const isBegun = () => server.made("claim").length > 0 && server.rules.hasBegun("last");
    const wasDone = await until(
      () => isBegun() || worker.exitCode !== null,
      command.limitMs ?? 45_000,
    );
    worker.kill("SIGTERM");
    const code = await exitOf(worker, 15_000);
    const ids = [...jobs.map(({ id }) => id), "long", "longToo", "last"];
    const missing = ids.filter((id) => server.outcomeOf(id) === undefined);
    return [
      check(
        "each job has its outcome",
        wasDone && missing.length === 0,
        `none of: ${missing.join(", ")}`,
      ),
      ...outcomesOf(server),
      check(
        "reports arrive before the outcome, also where a reply was lost",
        command.hasReports === false || hasSaid(server),
        JSON.stringify(server.reported),
      ),
      check("late work is tended where a reply says so", server.wasTended, "no call had tend"),
      check("nothing is claimed after SIGTERM", !server.hasLeased("never"), "a job was claimed"),
      check(
        "SIGTERM lets the job in hand end, and the process ends with 0",
        code === 0,
        `it was ${code}`,
      ),
      check(
        "the session says goodbye with a number above all of its calls",
        server.left,
        "it did not",
      ),
      check(
        "no rule is broken on the way",
        server.rules.broken.size === 0,
        [...server.rules.broken].join("; "),
      ),
    ];
  } finally {
    worker.kill("SIGKILL");
    await server.close();
  }
}

function outcomesOf(server: ScriptedServer): Check[] {
  const of = (id: string): Json => server.outcomeOf(id) ?? {};
  const claims = server.made("claim");
  const [fails, failsForGood] = [of("fails"), of("failsForGood")];
  return [
    check(
      "a claim without a reply is repeated by its number",
      claims.length > 1 && claims[0].callSeq === claims[1].callSeq,
      `the numbers were ${claims
        .slice(0, 9)
        .map(({ callSeq }) => callSeq)
        .join(", ")}`,
    ),
    check(
      "values of all types come back as they went",
      isSame(of("value").result, VALUE),
      JSON.stringify(of("value")),
    ),
    check(
      "a completion without an answer is repeated until it has one",
      of("repeated").kind === "succeeded" && carrying(server, "repeated") >= 3,
      `${carrying(server, "repeated")} calls carried it`,
    ),
    check(
      "an outcome that is refused is sent again, and holds up no other",
      of("refused").kind === "succeeded" && of("beside").kind === "succeeded",
      JSON.stringify(of("refused")),
    ),
    check(
      "a long job keeps its lease",
      of("long").kind === "succeeded",
      JSON.stringify(of("long")),
    ),
    check(
      "a handler that stops for a cancel, without a result, has the outcome canceled",
      of("canceled").kind === "canceled",
      JSON.stringify(of("canceled")),
    ),
    check(
      "a job that was lost is done by a later attempt",
      server.recorded.some(
        ({ id, attempt, outcome }) => id === "lost" && attempt > 1 && outcome.kind === "succeeded",
      ),
      "no later attempt succeeded",
    ),
    check(
      "an error fails the attempt with its message, and may be retried",
      fails.kind === "failed" &&
        String(fails.error).includes("it is broken") &&
        fails.retryable !== false,
      JSON.stringify(fails),
    ),
    check(
      "an error for good says so",
      failsForGood.kind === "failed" && failsForGood.retryable === false,
      JSON.stringify(failsForGood),
    ),
  ];
}

/** How many completions carried the job. */
function carrying(server: ScriptedServer, job: string): number {
  return server
    .made("complete")
    .filter(({ finished }) => finished.some(({ id }: Json) => id === job)).length;
}

function hasSaid({ reported }: ScriptedServer): boolean {
  const logs = reported.flatMap((one) => one.logs);
  const text = new Map(
    reported.flatMap((one) => one.output).map(({ index, text }: Json) => [index, text]),
  );
  return (
    logs.some(({ message }: Json) => message === "said") && [...text.values()].join("") === "text"
  );
}

/** A token that is worth nothing ends the worker: no amount of repeats helps. */
async function checkRefusedToken(command: Command): Promise<Check> {
  const server = new ScriptedServer([], { concurrency: CONCURRENCY, refuseAll: "tokenUnknown" });
  const worker = startWorker(command, await server.start());
  try {
    await until(() => server.messages.length > 0 || worker.exitCode !== null, START_MS);
    const code = await exitOf(worker, Math.min(command.limitMs ?? 10_000, 10_000));
    const isKept = code !== null && code !== 0;
    return check(
      "an unknown token ends the process with another code than 0",
      isKept,
      `it was ${code}`,
    );
  } finally {
    worker.kill("SIGKILL");
    await server.close();
  }
}

function startWorker({ command, args, env, isQuiet }: Command, url: string): ChildProcess {
  const shown = isQuiet === true ? "ignore" : "inherit";
  return spawn(command, args, {
    env: {
      ...process.env,
      ...env,
      CONVEX_URL: url,
      CONVEYOR_TOKEN: TOKEN,
      CONVEYOR_MODULE: MODULE,
      CONVEYOR_QUEUE: QUEUE,
      CONVEYOR_CONCURRENCY: String(CONCURRENCY),
    },
    stdio: ["ignore", shown, shown],
  });
}

async function exitOf(worker: ChildProcess, ms: number): Promise<number | null> {
  await until(() => worker.exitCode !== null || worker.signalCode !== null, ms);
  return worker.exitCode;
}

async function until(holds: () => boolean, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  while (!holds() && Date.now() < end) await pause(20);
  return holds();
}
