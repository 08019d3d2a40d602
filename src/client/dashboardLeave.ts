/**
 * Asking the app's resolver: may the caller see this, may they do that. Only `true` is a yes: what is forgotten, misspelt
 * or not awaited is a no.
 */
import { conveyorError } from "../shared/index.js";
import type { DashboardAction, DashboardResolver, DashboardView } from "./dashboardTypes.js";
import type { AuthorizeCtx } from "./types.js";

/** What untyped code may hand over. */
export type GivenResolver = Partial<DashboardResolver<any>> | undefined;

/** Throws what the resolver throws, or `forbidden`. */
export async function checkMaySee(
  resolver: GivenResolver,
  ctx: AuthorizeCtx<any>,
  view: DashboardView,
): Promise<void> {
  if ((await resolver?.maySee?.(ctx, view)) === true) return;
  throw conveyorError(
    "forbidden",
    `You may not see ${nameOf(view)}: the dashboard's \`maySee\` did not answer true. ` +
      "Sign in as somebody who may, or let the resolver in the app's code allow it.",
    { ask: "maySee", ...about(view) },
  );
}

/** The same of a change. */
export async function checkMayAct(
  resolver: GivenResolver,
  ctx: AuthorizeCtx<any>,
  action: DashboardAction,
): Promise<void> {
  if ((await resolver?.mayAct?.(ctx, action)) === true) return;
  throw conveyorError(
    "forbidden",
    `You may not ${nameOf(action)}: the dashboard's \`mayAct\` ` +
      (resolver?.mayAct === undefined ? "is not there, so nobody may. " : "did not answer true. ") +
      "Sign in as somebody who may, or let the resolver in the app's code allow it.",
    { ask: "mayAct", ...about(action) },
  );
}

/** Whether the caller may see a queue among others. A resolver that throws leaves this one out, and not all. */
export async function seesQueue(
  resolver: GivenResolver,
  ctx: AuthorizeCtx<any>,
  queue: string,
): Promise<boolean> {
  return await isYes(() => resolver?.maySee?.(ctx, { kind: "queue", queue }));
}

/** Those of these actions that the caller may do, for pages to show. */
export async function allowedOf<Action extends DashboardAction>(
  resolver: GivenResolver,
  ctx: AuthorizeCtx<any>,
  actions: readonly Action[],
): Promise<Action["kind"][]> {
  const kinds: Action["kind"][] = [];
  for (const action of actions) {
    if (await isYes(() => resolver?.mayAct?.(ctx, action))) kinds.push(action.kind);
  }
  return kinds;
}

async function isYes(ask: () => unknown): Promise<boolean> {
  try {
    return (await ask()) === true;
  } catch {
    return false;
  }
}

/** What was asked for, cut: ids and names come from outside. */
function about(asked: DashboardView | DashboardAction): Record<string, string> {
  return {
    kind: asked.kind,
    ...("queue" in asked ? { queue: asked.queue.slice(0, 100) } : {}),
    ...("id" in asked ? { id: asked.id.slice(0, 100) } : {}),
  };
}

function nameOf(asked: DashboardView | DashboardAction): string {
  const { kind, queue, id } = about(asked);
  if (queue === undefined) return `the ${kind}`;
  const of = id === undefined || kind === "job" ? "" : " a job";
  const job = id === undefined || kind !== "job" ? "" : ` ${JSON.stringify(id)}`;
  return `${kind}${of}${job} of the queue ${JSON.stringify(queue)}`;
}
