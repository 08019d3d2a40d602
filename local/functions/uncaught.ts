/** How a failure of app code reads: the platform's `Uncaught Error: …`, and where in the app's sources it happened. */
import { SourceMap, type SourceMapPayload } from "node:module";
import { inspect } from "node:util";
import type { JSONValue } from "convex/values";
import { FunctionError, PlatformError } from "./errors.js";
import type { ModuleSource } from "./types.js";

/** Enough to find the place; what is above is the platform's. */
const MAX_FRAMES = 10;
const FRAME = /^\s*at (?:(.+?) \()?(?:async )?([^()\s]+?):(\d+):(\d+)\)?$/;

interface ConvexErrorLike {
  ConvexErrorSymbol?: symbol;
  data?: unknown;
}

/** What was thrown inside a sandbox, as the error that its caller outside gets. */
export function toFunctionError(
  thrown: unknown,
  modules: ReadonlyMap<string, ModuleSource>,
): FunctionError | PlatformError {
  if (thrown instanceof FunctionError || thrown instanceof PlatformError) return thrown;
  try {
    const data = convexErrorData(thrown);
    const described = describeThrown(thrown, modules);
    return new FunctionError(described, ...(data === undefined ? [] : [data]));
  } catch {
    // Getters, symbols, traps of a proxy: still the app's failure, and not the backend's.
    return new FunctionError("Uncaught value that cannot be described");
  }
}

/** `convex/server` leaves a `ConvexError`'s data as JSON text on the error, marked by a symbol. */
function convexErrorData(thrown: unknown): JSONValue | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { ConvexErrorSymbol, data } = thrown as ConvexErrorLike;
  if (ConvexErrorSymbol !== Symbol.for("ConvexError") || typeof data !== "string") return undefined;
  return JSON.parse(data) as JSONValue;
}

function describeThrown(thrown: unknown, modules: ReadonlyMap<string, ModuleSource>): string {
  if (typeof thrown !== "object" || thrown === null || !("message" in thrown)) {
    return `Uncaught ${typeof thrown === "string" ? thrown : inspect(thrown)}`;
  }
  const { name = "Error", message, stack } = thrown as Partial<Error>;
  const frames = framesOf(typeof stack === "string" ? stack : "", modules);
  return [`Uncaught ${name}: ${message}`, ...frames].join("\n");
}

/** Only the app's own frames, in its own sources where there are maps. */
function framesOf(stack: string, modules: ReadonlyMap<string, ModuleSource>): string[] {
  const frames: string[] = [];
  for (const line of stack.split("\n")) {
    const match = FRAME.exec(line);
    const module = match === null ? undefined : modules.get(match[2]!);
    if (match === null || module === undefined) continue;
    const name = match[1]?.replace(/^async /, "") ?? "<anonymous>";
    frames.push(`    at ${name} (${positionOf(module, Number(match[3]), Number(match[4]))})`);
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
