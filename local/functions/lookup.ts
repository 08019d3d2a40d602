/** Finds functions in a deployment, and says in the platform's words why one cannot be called. */
import type { Called } from "./calling.js";
import { FunctionError } from "./errors.js";
import type {
  AnalyzedFunction,
  ComponentInstance,
  Deployment,
  FunctionAddress,
  UdfType,
} from "./types.js";

/** A function that exists, where it lives. */
export interface Target {
  address: FunctionAddress;
  instance: ComponentInstance;
  analyzed: AnalyzedFunction;
  /** `jobs/tiles.js`, as the CLI bundled it. */
  module: string;
}

/** As a module's exports know it. */
export function calledOf({ address: { path }, analyzed, module }: Target): Called {
  return { module, export: analyzed.name, path };
}

/** `mod:fn`, from `mod.js:fn`, `mod` (its default export) or `mod:fn`. */
export function canonicalPath(path: string): string {
  const colon = path.lastIndexOf(":");
  const module = colon === -1 ? path : path.slice(0, colon);
  const name = colon === -1 ? "default" : path.slice(colon + 1);
  return `${module.replace(/\.js$/, "")}:${name}`;
}

/** As functions and errors read it: a default export is its module. sync_types/src/udf_path.rs: strip. */
export function shownPath(path: string): string {
  return path.replace(/:default$/, "");
}

/** A function's name in logs and in conflict messages of other functions. */
export function displayName({ namespace, path }: FunctionAddress): string {
  return namespace === "" ? path : `${namespace}/${path}`;
}

export function findTarget(deployment: Deployment, address: FunctionAddress): Target | null {
  const instance = deployment.instances.get(address.namespace);
  const path = canonicalPath(address.path);
  const colon = path.lastIndexOf(":");
  const module = `${path.slice(0, colon)}.js`;
  const name = path.slice(colon + 1);
  const analyzed = instance?.definition.functions.get(module)?.find((f) => f.name === name);
  if (instance === undefined || analyzed === undefined) return null;
  return { address: { namespace: address.namespace, path }, instance, analyzed, module };
}

export interface Wanted {
  /** `null` takes any type. */
  type: UdfType | null;
  publicOnly: boolean;
}

/** To a caller without access an internal function is as good as absent: nothing tells the two apart. */
export function requireTarget(
  deployment: Deployment,
  address: FunctionAddress,
  { type, publicOnly }: Wanted,
): Target {
  const target = findTarget(deployment, address);
  const visible = target !== null && (!publicOnly || target.analyzed.visibility === "public");
  if (!visible) throw new FunctionError(notFound(deployment, address, publicOnly));
  const found = target.analyzed.udfType;
  if (type !== null && found !== type) {
    throw new FunctionError(
      `Trying to execute ${shownPath(target.address.path)} as ${type}, but it is defined as ${found}.`,
    );
  }
  return target;
}

function notFound(deployment: Deployment, address: FunctionAddress, publicOnly: boolean): string {
  const what = publicOnly ? "public function" : "function";
  const where = address.namespace === "" ? "" : ` in component "${address.namespace}"`;
  const hint = deployment.instances.has(address.namespace)
    ? "Did you forget to run `npx convex dev` or `npx convex deploy`?"
    : `No component is mounted there: is \`app.use(...)\` missing in convex.config.ts?`;
  return `Could not find ${what} for '${shownPath(canonicalPath(address.path))}'${where}. ${hint}`;
}

export function runsInNode({ instance, module }: Target): boolean {
  return instance.definition.modules.get(module)?.environment === "node";
}
