/** How a failure of app code reads: the platform's `Uncaught Error: …`, and where in the app's sources it happened. */
import { SourceMap, type SourceMapPayload } from "node:module";
import { inspect } from "node:util";
import type { JSONValue } from "convex/values";
import { FunctionError, PlatformError } from "./errors.js";
import type { ModuleSource } from "./types.js";

/** Enough to find the place; frames above that are the platform's. */
const MAX_FRAMES = 10;
/** Convex's own part of a call, which says nothing of the app. common/src/errors.rs:506. */
const LIBRARY = "convex/src/server/impl";
const FRAME = /^\s*at (?:(.+?) \()?(?:async )?([^()\s]+?):(\d+):(\d+)\)?$/;

interface ConvexErrorLike {
  ConvexErrorSymbol?: symbol;
  data?: unknown;
}

/** A thrown value, described without the value itself: it may lie in another thread. */
export interface Thrown {
  /** Ours, which says all there is to say; otherwise the app's. */
  ours: boolean;
  message: string;
  frames: Frame[];
  /** A `ConvexError`'s, in its JSON encoding. */
  data?: JSONValue;
}

/** A place in the code as it was pushed. */
interface Frame {
  name: string;
  module: string;
  line: number;
  column: number;
}

/** A value thrown inside a sandbox, as the error that its caller outside gets. */
export function toFunctionError(
  thrown: unknown,
  modules: ReadonlyMap<string, ModuleSource>,
): FunctionError | PlatformError {
  if (isOurs(thrown)) return thrown;
  return errorOf(
    describeThrown(thrown, (path) => modules.has(path)),
    modules,
  );
}

/** A proxy of the app's may throw when it is asked for its prototype. */
function isOurs(thrown: unknown): thrown is FunctionError | PlatformError {
  try {
    return thrown instanceof FunctionError || thrown instanceof PlatformError;
  } catch {
    return false;
  }
}

/** From the other side's description. Positions become positions in the app's own sources where there are maps. */
export function errorOf(
  { ours, message, frames, data }: Thrown,
  modules: ReadonlyMap<string, ModuleSource>,
): FunctionError {
  const lines = frames.flatMap(({ name, module, line, column }) => {
    const position = positionOf(modules.get(module)!, line, column);
    return position.includes(LIBRARY) ? [] : [`    at ${name} (${position})`];
  });
  const text = ours ? message : [message, ...lines].join("\n");
  return new FunctionError(text, ...(data === undefined ? [] : [data]));
}

export function describeThrown(thrown: unknown, isOfApp: (module: string) => boolean): Thrown {
  try {
    if (thrown instanceof FunctionError) {
      const { message, data } = thrown;
      return { ours: true, message, frames: [], ...(data === undefined ? {} : { data }) };
    }
    const data = convexErrorData(thrown);
    const described = describe(thrown, isOfApp);
    return { ours: false, ...described, ...(data === undefined ? {} : { data }) };
  } catch {
    // Getters, symbols, traps of a proxy: still the app's failure, and not the backend's.
    return { ours: false, message: "Uncaught value that cannot be described", frames: [] };
  }
}

/** `convex/server` leaves a `ConvexError`'s data as JSON text on the error, marked by a symbol. */
function convexErrorData(thrown: unknown): JSONValue | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { ConvexErrorSymbol, data } = thrown as ConvexErrorLike;
  if (ConvexErrorSymbol !== Symbol.for("ConvexError") || typeof data !== "string") return undefined;
  return JSON.parse(data) as JSONValue;
}

function describe(
  thrown: unknown,
  isOfApp: (module: string) => boolean,
): Pick<Thrown, "message" | "frames"> {
  if (typeof thrown !== "object" || thrown === null || !("message" in thrown)) {
    const shown = typeof thrown === "string" ? thrown : inspect(thrown);
    return { message: `Uncaught ${shown}`, frames: [] };
  }
  const { name = "Error", message, stack } = thrown as Partial<Error>;
  return {
    message: `Uncaught ${name}: ${message}`,
    frames: framesOf(typeof stack === "string" ? stack : "", isOfApp),
  };
}

/** Only the app's own frames. */
function framesOf(stack: string, isOfApp: (module: string) => boolean): Frame[] {
  const frames: Frame[] = [];
  for (const text of stack.split("\n")) {
    const match = FRAME.exec(text);
    if (match === null || !isOfApp(match[2]!)) continue;
    const name = match[1]?.replace(/^async /, "") ?? "<anonymous>";
    frames.push({ name, module: match[2]!, line: Number(match[3]), column: Number(match[4]) });
    if (frames.length === MAX_FRAMES) break;
  }
  return frames;
}

function positionOf(module: ModuleSource, line: number, column: number): string {
  const entry = mapOf(module)?.findEntry(line - 1, column - 1);
  if (entry !== undefined && "originalSource" in entry) {
    return `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn}`;
  }
  return `${module.path}:${line}:${column}`;
}

const maps = new WeakMap<ModuleSource, SourceMap | null>();

function mapOf(module: ModuleSource): SourceMap | null {
  const known = maps.get(module);
  if (known !== undefined) return known;
  let map: SourceMap | null = null;
  try {
    if (module.sourceMap) map = new SourceMap(JSON.parse(module.sourceMap) as SourceMapPayload);
  } catch {
    // A map that cannot be read costs the positions in the sources, not the error.
  }
  maps.set(module, map);
  return map;
}
