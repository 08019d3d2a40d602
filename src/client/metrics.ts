/**
 * An HTTP action that a monitoring system reads. It is open to the internet: nothing is read before the app's `authorize` has
 * said yes. An action and no query, so that queues are read one by one, however many there are.
 */
import { httpActionGeneric, type GenericActionCtx, type PublicHttpAction } from "convex/server";
import { expose, EXPOSITION_TYPE, QUEUES_LISTED_MAX } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { familiesOf, type Measured } from "./metricFamilies.js";
import { callComponent } from "./mounted.js";
import { mainLoopOf } from "./overviews.js";
import type { RunsQueries } from "./types.js";

/** The options of {@link Conveyor.metrics}. */
export interface MetricsOptions {
  /**
   * Whether a request may read the metrics: only `true` is a yes, and any other answer, none included, is answered 401. An
   * error that it throws is passed on, which the platform answers with 500. They name every queue, and say how busy it is;
   * `"public"` opens them to every request.
   *
   * @example
   * authorize: bearerToken("METRICS_TOKEN")
   */
  authorize:
    "public" | ((ctx: GenericActionCtx<any>, request: Request) => boolean | Promise<boolean>);
}

/** Queues that are read at the same time. */
const AT_ONCE = 8;

/** Builds the action of {@link Conveyor.metrics}. */
export function metricsAction(
  component: ComponentApi,
  options: MetricsOptions,
  mount: { schedulerShare?: number } = {},
): PublicHttpAction {
  const given: Partial<MetricsOptions> | undefined = options;
  return httpActionGeneric(async (ctx, request) => {
    if (!(await isAllowed(given?.authorize, ctx, request))) return refused();
    const queues = await measureAll(component, ctx);
    const workers = await callComponent(() => ctx.runQuery(component.lib.workers, {}));
    const mainLoop = await mainLoopOf(ctx, component, mount);
    const text = expose(familiesOf({ queues, workers, mainLoop }, Date.now()));
    return new Response(text, {
      headers: { "content-type": EXPOSITION_TYPE, "cache-control": "no-store" },
    });
  });
}

async function isAllowed(
  authorize: MetricsOptions["authorize"] | undefined,
  ctx: GenericActionCtx<any>,
  request: Request,
): Promise<boolean> {
  if (authorize === "public") return true;
  return typeof authorize === "function" && (await authorize(ctx, request)) === true;
}

function refused(): Response {
  return new Response("forbidden: `authorize` of the metrics did not answer true.\n", {
    status: 401,
    headers: { "www-authenticate": "Bearer", "content-type": "text/plain" },
  });
}

async function measureAll(component: ComponentApi, ctx: RunsQueries): Promise<Measured[]> {
  const names = await allNames(component, ctx);
  const measured: Measured[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE).map(async (queue) => {
      const found = await ctx.runQuery(component.observe.metrics, { queue });
      return found === null ? [] : [{ ...found, queue }];
    });
    measured.push(...(await Promise.all(some)).flat());
  }
  return measured;
}

async function allNames(component: ComponentApi, ctx: RunsQueries): Promise<string[]> {
  const names: string[] = [];
  let more = true;
  while (more) {
    const last = names.at(-1);
    const args = { limit: QUEUES_LISTED_MAX, ...(last === undefined ? {} : { after: last }) };
    const page = await callComponent(() => ctx.runQuery(component.observe.queues, args));
    names.push(...page.names);
    ({ more } = page);
  }
  return names;
}
