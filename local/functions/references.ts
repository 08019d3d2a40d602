/**
 * The three ways in which a function names another: by path in its own component, by a reference into a child
 * component, by a handle. The reach of each is decided here alone.
 */
import { FunctionError } from "./errors.js";
import { canonicalPath, requireTarget, type Target } from "./lookup.js";
import type { Deployment, FunctionAddress, UdfType } from "./types.js";

/** As `getFunctionAddress` of `convex/server` writes it: one of the three. */
export interface Reference {
  name?: string;
  reference?: string;
  functionHandle?: string;
}

const HANDLE = "function://";
const CHILD = /^_reference\/childComponent\/([^/]+)\/(.+)$/;
const OWN = /^_reference\/function\/(.+)$/;

/** `type` `null` takes a function of any type. */
export function resolveReference(
  deployment: Deployment,
  from: string,
  reference: Reference,
  type: UdfType | null,
): Target {
  if (reference.functionHandle !== undefined) {
    // A handle may be called by its holder: handles exist for that.
    const address = addressOfHandle(reference.functionHandle);
    return requireTarget(deployment, address, { type, publicOnly: false });
  }
  if (reference.name !== undefined) {
    const address = { namespace: from, path: reference.name };
    return requireTarget(deployment, address, { type, publicOnly: false });
  }
  const own = OWN.exec(reference.reference ?? "");
  if (own !== null) {
    const address = { namespace: from, path: pathOf(own[1]!) };
    return requireTarget(deployment, address, { type, publicOnly: false });
  }
  return requireTarget(deployment, childAddress(deployment, from, reference), {
    type,
    publicOnly: true,
  });
}

function childAddress(
  deployment: Deployment,
  from: string,
  { reference = "" }: Reference,
): FunctionAddress {
  const match = CHILD.exec(reference);
  if (match === null) {
    throw new FunctionError(
      `"${reference}" refers to no function. A reference is one of \`api\`, \`internal\` or \`components.<name>\`.`,
    );
  }
  const [, child = "", path = ""] = match;
  const children = deployment.instances.get(from)?.children;
  const namespace = children?.get(child);
  if (namespace === undefined) {
    const mounted = [...(children?.keys() ?? [])].map((name) => `"${name}"`).join(", ");
    throw new FunctionError(
      // The first sentence is the platform's own; programs search for it.
      `Child component "${child}" not found. Mounted here: ${mounted || "none"}. ` +
        `Add \`app.use(...)\` to convex.config.ts and push again.`,
    );
  }
  return { namespace, path: pathOf(path) };
}

/** References separate the function by a slash where paths have a colon: `jobs/tiles/list`. */
function pathOf(reference: string): string {
  if (reference.includes(":")) return reference;
  const slash = reference.lastIndexOf("/");
  return slash === -1 ? reference : `${reference.slice(0, slash)}:${reference.slice(slash + 1)}`;
}

/**
 * Handles hold the address itself, so they need no table and outlive pushes and restarts; the platform's hold a row's
 * id and do the same. To all code outside this file they are opaque.
 */
export function handleOf({ namespace, path }: FunctionAddress): string {
  const address = JSON.stringify([namespace, canonicalPath(path)]);
  return HANDLE + Buffer.from(address).toString("base64url");
}

export function addressOfHandle(handle: string): FunctionAddress {
  try {
    if (!handle.startsWith(HANDLE)) throw new Error("not a handle");
    const text = Buffer.from(handle.slice(HANDLE.length), "base64url").toString();
    const [namespace, path] = JSON.parse(text) as [unknown, unknown];
    if (typeof namespace !== "string" || typeof path !== "string") throw new Error("not a handle");
    return { namespace, path };
  } catch {
    throw new FunctionError(
      `"${handle}" is not a function handle of this deployment. Handles come from createFunctionHandle().`,
    );
  }
}
