/**
 * The address and the token of `npx convex-conveyor work`: from flags, the environment or `.env.local`, or else from the person
 * at the terminal. An answer is appended to `.env.local`, and nothing else there changes.
 */
import { appendFileSync, chmodSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { parseEnv } from "node:util";
import { checkToken, checkUrl, TOKEN_COMMAND } from "./options.js";

export const ENV_FILE = ".env.local";

/** As `npx convex dev` writes them: some frameworks have names of their own. */
const URL_NAMES = [
  "CONVEX_URL",
  "CONVEX_SELF_HOSTED_URL",
  "NEXT_PUBLIC_CONVEX_URL",
  "VITE_CONVEX_URL",
  "PUBLIC_CONVEX_URL",
  "EXPO_PUBLIC_CONVEX_URL",
];
/** For a slip of the keyboard. */
const ASKED_MAX = 3;

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { isTTY?: boolean };
}

export interface Given {
  /** The folder with `.env.local`. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly url?: string;
  readonly token?: string;
  readonly terminal: Terminal;
}

/**
 * The variables that the processes get besides the environment.
 *
 * @throws Where something is missing and there is no terminal; for an address that is none, and a token that is none.
 */
export async function workEnvironment(given: Given): Promise<Record<string, string>> {
  const file = path.join(given.folder, ENV_FILE);
  const written = readEnvFile(file);
  // The environment comes first whatever the name. A variable of no characters counts as none.
  const find = (...names: string[]) =>
    [given.environment, written]
      .flatMap((variables) => names.map((name) => variables[name]))
      .find(Boolean);
  const url = given.url ?? find(...URL_NAMES);
  const token = given.token ?? find("CONVEYOR_TOKEN");
  const missing = [...(url ? [] : ["url" as const]), ...(token ? [] : ["token" as const])];
  const isTerminal = given.terminal.input.isTTY === true && given.terminal.output.isTTY === true;
  if (missing.length > 0 && !isTerminal) throw new Error(missingText(missing));
  const found = {
    CONVEX_URL: checkUrl(url ?? (await ask("url", given.terminal))),
    CONVEYOR_TOKEN: checkToken(token ?? (await ask("token", given.terminal))),
  };
  const answers = [
    ...(url ? [] : [`CONVEX_URL=${found.CONVEX_URL}`]),
    ...(token ? [] : [`CONVEYOR_TOKEN=${found.CONVEYOR_TOKEN}`]),
  ];
  if (answers.length > 0) writeEnvFile(file, answers, given.terminal);
  const further = Object.entries(written).filter(([name]) => !given.environment[name]);
  return { ...Object.fromEntries(further), ...found };
}

function readEnvFile(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  // It came with Node 20.12.
  if (typeof parseEnv !== "function") {
    throw new Error(`Node ${process.version} cannot read ${ENV_FILE}. Take Node 20.12 or later.`);
  }
  return parseEnv(readFileSync(file, "utf8")) as Record<string, string>;
}

function writeEnvFile(file: string, lines: readonly string[], { output }: Terminal): void {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const newLine = before === "" || before.endsWith("\n") ? "" : "\n";
  // The file is for its owner alone: it has a secret, or may get one.
  const isPrivate = !existsSync(file) || isMadePrivate(file);
  appendFileSync(file, `${newLine}${lines.join("\n")}\n`, { mode: 0o600 });
  const warning = isPrivate ? "" : " Other users of this machine may be able to read it.";
  output.write(`Written to ${ENV_FILE}.${warning} Keep that file out of your repository.\n`);
}

/** Another user's file stays as it is. */
function isMadePrivate(file: string): boolean {
  try {
    chmodSync(file, 0o600);
    return true;
  } catch {
    return false;
  }
}

function missingText(missing: readonly ("url" | "token")[]): string {
  const texts = {
    url: "the deployment's address: set CONVEX_URL, or give --url, as in --url https://happy-animal-123.convex.cloud",
    token: `a worker token: set CONVEYOR_TOKEN, or give --token. The app makes one with: ${TOKEN_COMMAND}`,
  };
  return [
    `Missing, in the environment and in ${ENV_FILE}:`,
    ...missing.map((one) => `  - ${texts[one]}`),
    "In a terminal this command asks for it.",
  ].join("\n");
}

/** A token is not shown while it is typed. */
async function ask(what: "url" | "token", { input, output }: Terminal): Promise<string> {
  const question =
    what === "url"
      ? "Address of the deployment (https://….convex.cloud): "
      : `Token of the workers (${TOKEN_COMMAND} makes one): `;
  const check = what === "url" ? checkUrl : checkToken;
  for (let asked = 1; ; asked += 1) {
    const answer = (await oneLine(question, input, output, what === "token")).trim();
    try {
      return check(answer);
    } catch (error) {
      if (asked === ASKED_MAX) throw error;
      output.write(`${(error as Error).message}\n`);
    }
  }
}

async function oneLine(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  isSecret: boolean,
): Promise<string> {
  let isMuted = false;
  const shown = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (!isMuted) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: shown, terminal: true });
  const interrupted = new Promise<never>((_, reject) => {
    const end = () => reject(new Error("No answer was given."));
    lines.once("SIGINT", end).once("close", end);
  });
  interrupted.catch(() => {});
  try {
    const answer = lines.question(question);
    isMuted = isSecret;
    return await Promise.race([answer, interrupted]);
  } finally {
    lines.close();
    if (isSecret) output.write("\n");
  }
}
