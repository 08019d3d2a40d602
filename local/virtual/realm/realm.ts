/**
 * Runs a program in this process as if it had one of its own: all in it that tells time, waits, rolls dice or talks to
 * the network is the world's. Its code is wrapped in a function with parameters that hide the globals, so that values
 * are of the same kind inside and outside and a program costs no context of its own. Not a wall: a program that
 * searches for the real ones on purpose finds them.
 */
import vm from "node:vm";
import { format } from "node:util";
import { runsFor } from "../../functions/rejections.js";
import type { Branch } from "../branch.js";
import type { Link } from "../network/link.js";
import { VirtualSocket } from "../network/socket.js";
import { REALM_NAME } from "./bundle.js";
import { builtins } from "./builtins.js";
import { chanceGlobals } from "./chance.js";
import { createProcess, ProgramExit } from "./process.js";
import { timeGlobals } from "./time.js";

export interface RealmOptions {
  name: string;
  place: Branch;
  link: Link;
  env?: Readonly<Record<string, string>>;
  pid?: number;
  /** Receives the text that it prints. */
  write?: (stream: "stdout" | "stderr", text: string) => void;
  /** It called `process.exit`. */
  exit?: (code: number) => void;
  /** Something in it was thrown or rejected, and not caught. */
  crashed: (error: unknown) => void;
}

export interface Realm {
  /** Runs bundled code until the end of its top level, which may await. */
  run(code: string): Promise<void>;
  /** Runs bundled code without a top-level `await`, and gives the realm's `exports` after it. */
  load(code: string): Record<string, unknown>;
  /** As the operating system does. False without a listener. */
  signal(name: string): boolean;
  readonly exitCode: number | undefined;
}

type Body = (...values: unknown[]) => Promise<void>;

/**
 * The compiled programs, by their code: their state is made anew each time, while V8 goes on with its knowledge of the
 * same program, in this world or an earlier one.
 */
const bodies = new Map<string, { names: string; body: Body }>();
/** More programs than a process runs in turns. */
const MAX_BODIES = 32;

function compiled(code: string, names: readonly string[]): Body {
  const known = bodies.get(code);
  if (known?.names === names.join()) return known.body;
  const text = `return (async () => {"use strict";\n${code}\n})()`;
  const body = vm.compileFunction(text, names, { filename: "program.js" }) as Body;
  for (const oldest of bodies.keys()) {
    if (bodies.size < MAX_BODIES) break;
    bodies.delete(oldest);
  }
  bodies.set(code, { names: names.join(), body });
  return body;
}

/** Hidden, and not there: names that programs test for to find out where they run. */
const ABSENT = ["window", "document", "navigator", "self", "Deno", "Bun", "EventSource", "Worker"];

export function createRealm(options: RealmOptions): Realm {
  const { name, place, link, crashed } = options;
  const write = options.write ?? (() => {});
  const caught = (error: unknown): void => {
    if (!(error instanceof ProgramExit)) crashed(error);
  };
  const owner = { rejected: caught };
  place.owner = owner;
  /** From outside into the program: an error in there is the program's own. */
  const enter = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      caught(error);
    }
  };
  const process = createProcess({
    place,
    env: options.env ?? {},
    name,
    pid: options.pid ?? 1,
    write,
    exit: options.exit ?? (() => {}),
  });
  const time = timeGlobals(place, enter);
  const chance = chanceGlobals(place);
  const globals: Record<string, unknown> = {
    ...time,
    ...chance,
    fetch: link.fetch,
    WebSocket: socketsOf(link, enter),
    console: consoleOf(write),
    process,
  };
  for (const absent of ABSENT) globals[absent] = undefined;
  const own = new Proxy(globals, {
    get: (target, key) =>
      key in target ? target[key as string] : (Reflect.get(globalThis, key) as unknown),
    has: (target, key) => key in target || key in globalThis,
  });
  globals["globalThis"] = own;
  globals["global"] = own;
  const exports: Record<string, unknown> = {};
  globals[REALM_NAME] = { builtin: builtins({ process, time, chance, name }), exports };

  const start = (code: string): Promise<void> => {
    const names = Object.keys(globals);
    const run = compiled(code, names);
    runsFor(owner);
    return run(...names.map((key) => globals[key]));
  };

  return {
    get exitCode() {
      return process.exitCode;
    },
    signal: (signal) => {
      if (process.listenerCount(signal) === 0) return false;
      enter(() => void process.emit(signal, signal));
      return true;
    },
    run: start,
    load: (code) => {
      start(code).catch(caught);
      return exports;
    },
  };
}

/** Its handlers are the program's code. */
function socketsOf(link: Link, enter: (run: () => void) => void): unknown {
  return new Proxy(VirtualSocket, {
    construct: (_, [url]: [string | URL]) => link.socket(String(url), enter),
  });
}

function consoleOf(write: (stream: "stdout" | "stderr", text: string) => void): object {
  const print =
    (stream: "stdout" | "stderr") =>
    (...args: unknown[]): void =>
      write(stream, `${format(...args)}\n`);
  const quiet = () => {};
  return {
    ...{ log: print("stdout"), info: print("stdout"), debug: print("stdout") },
    ...{ warn: print("stderr"), error: print("stderr"), trace: print("stderr") },
    ...{ group: quiet, groupEnd: quiet, time: quiet, timeEnd: quiet, assert: quiet },
  };
}
