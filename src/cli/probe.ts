/**
 * Asks the deployment once before a page is served: a mistake is reported in the terminal, where it can be corrected.
 */
import { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { ConvexError } from "convex/values";
import { errorText, functionNotFound, isConveyorError } from "../shared/index.js";
import type { DashboardOptions } from "./options.js";

const PROBE_MS = 15_000;

/** Clients of Convex have it and do not document it: the platform's own dashboard calls so. */
export interface TakesAdminKey {
  setAdminAuth(key: string, identity?: Record<string, unknown>): void;
}

/** Throws with the correction to make. */
export async function probe(options: DashboardOptions): Promise<void> {
  const client = clientOf(options);
  const read = makeFunctionReference<"query">(`${options.module}:read`);
  try {
    await client.query(read, { call: { kind: "overview" } });
  } catch (error) {
    throw new Error(whatIsWrong(options, error), { cause: error });
  }
}

function clientOf({ url, token, adminKey, identity }: DashboardOptions): ConvexHttpClient {
  const client = new ConvexHttpClient(url, {
    logger: false,
    fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(PROBE_MS) }),
  });
  if (token !== undefined) client.setAuth(token);
  if (adminKey !== undefined) (client as unknown as TakesAdminKey).setAdminAuth(adminKey, identity);
  return client;
}

function whatIsWrong({ url, module, token }: DashboardOptions, error: unknown): string {
  if (isConveyorError(error, "forbidden")) return `${error.data.message} ${howToSignIn}`;
  if (isConveyorError(error)) return error.data.message;
  if (error instanceof ConvexError) {
    return `The app's \`authorize\` refused: ${JSON.stringify(error.data)}. ${howToSignIn}`;
  }
  const text = errorText(error);
  if (functionNotFound(error) !== null || /Could not find module/.test(text)) {
    return (
      `The deployment at ${url} has no public function "${module}:read". Export the functions of ` +
      `\`conveyor.dashboardApi({ authorize })\` from convex/${module}.ts and push it, or name the module with --module.`
    );
  }
  if (isUnreachable(error)) {
    return `Nothing answers at ${url} (${reasonOf(error)}). Is this the deployment's address, and is it running?`;
  }
  if (/BadAdminKey/.test(text)) return `The deployment at ${url} does not accept this --admin-key.`;
  if (token !== undefined && /auth|token/i.test(text)) {
    return `The deployment at ${url} does not accept this --token: ${text}`;
  }
  if (/HTTP actions|No matching routes/.test(text)) {
    return `${url} is where HTTP actions are. Give the address of functions as --url, which ends with .convex.cloud.`;
  }
  return `"${module}:read" of ${url} failed: ${text}`;
}

const howToSignIn =
  "Give --token with a token of an authorized user, or --admin-key with --identity.";

/** Errors of `fetch` without an answer. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === "TimeoutError");
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause === "object" && cause !== null && "code" in cause) return String(cause.code);
  return errorText(error);
}
