/**
 * Asking the app's `authorize`: may the caller see this, may the caller change that. Only `true` is a yes: an answer that is
 * forgotten, misspelt or not awaited is a no.
 */
import type { DashboardCall } from "../shared/index.js";
import type { DashboardApiOptions } from "./dashboardTypes.js";
import { mustAllow } from "./leave.js";
import type { AuthorizeCtx } from "./types.js";

/** Values that untyped code may pass. */
export type GivenOptions = Partial<DashboardApiOptions<any>> | undefined;

/** Throws the error of `authorize`, or `forbidden`. */
export async function checkAllowed(
  options: GivenOptions,
  ctx: AuthorizeCtx<any>,
  call: DashboardCall,
): Promise<void> {
  if (options?.authorize === "public") return;
  await mustAllow(options?.authorize, [ctx, call], "the dashboard");
}

/** Whether the caller may see one of several queues. An `authorize` that throws leaves this one out, and not all. */
export async function seesQueue(
  options: GivenOptions,
  ctx: AuthorizeCtx<any>,
  queue: string,
): Promise<boolean> {
  return await isAllowed(options, ctx, { kind: "queue", changes: false, queue });
}

/** Of these changes, the kinds that the caller may make, for pages to show. */
export async function allowedOf<Change extends DashboardCall>(
  options: GivenOptions,
  ctx: AuthorizeCtx<any>,
  changes: readonly Change[],
): Promise<Change["kind"][]> {
  const kinds: Change["kind"][] = [];
  for (const call of changes) if (await isAllowed(options, ctx, call)) kinds.push(call.kind);
  return kinds;
}

async function isAllowed(
  options: GivenOptions,
  ctx: AuthorizeCtx<any>,
  call: DashboardCall,
): Promise<boolean> {
  try {
    await checkAllowed(options, ctx, call);
    return true;
  } catch {
    return false;
  }
}
