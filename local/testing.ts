/** For tests: the backend as a program of its own, as `npm run backend` starts it. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Program {
  child: ChildProcess;
  /** All that it has written, both streams. */
  output: { text: string };
  /** Its exit code, when it has ended. */
  exited: Promise<number | null>;
  /** The output up to and including a match. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** In memory, unless `args` say where its data is. */
export function runProgram(...args: string[]): Program {
  const data = args.includes("--data") ? [] : ["--in-memory"];
  return runFile(fileURLToPath(new URL("./main.ts", import.meta.url)), ...data, ...args);
}

/** Another program that starts a backend. */
export function runFile(file: string, ...args: string[]): Program {
  return runWith({}, file, ...args);
}

/** With variables of its environment besides. */
export function runWith(env: Record<string, string>, file: string, ...args: string[]): Program {
  const child = spawn(
    process.execPath,
    ["--no-warnings", "--experimental-vm-modules", "--import", "tsx", file, ...args],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_OPTIONS: "", ...env } },
  );
  const output = { text: "" };
  const looks = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output.text += chunk.toString();
      for (const look of [...looks]) look();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(output.text);
        if (match === null) return;
        looks.delete(look);
        resolve(match);
      };
      looks.add(look);
      look();
      void exited.then(() => reject(new Error(`It ended without ${pattern}:\n${output.text}`)));
    });
  return { child, output, exited, printed };
}
