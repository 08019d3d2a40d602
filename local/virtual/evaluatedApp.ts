/**
 * An app's deployment, evaluated once for any number of worlds: it is pushed to a world that lives for that long. A world that
 * is given it, with kept sandboxes besides, starts in a tenth of the time that a push takes.
 */
import type { Deployment } from "../functions/types.js";
import type { AppBundle } from "./appBundle.js";
import { createWorld } from "./world.js";

/** By bundle, then by the variables that its functions see. */
const known = new WeakMap<AppBundle, Map<string, Promise<Deployment>>>();

/** With these variables, `process.env` of the functions. */
export function evaluatedApp(
  app: AppBundle,
  variables: Record<string, string> = {},
): Promise<Deployment> {
  const ofApp = known.get(app) ?? new Map<string, Promise<Deployment>>();
  known.set(app, ofApp);
  const asked = JSON.stringify(Object.entries(variables).sort());
  const found = ofApp.get(asked);
  if (found !== undefined) return found;
  const deployment = pushed(app, variables);
  ofApp.set(asked, deployment);
  deployment.catch(() => ofApp.delete(asked));
  return deployment;
}

async function pushed(app: AppBundle, variables: Record<string, string>): Promise<Deployment> {
  const world = await createWorld({ seed: "deployment", variables });
  try {
    await world.push(app);
    return world.backend.runner.deployment;
  } finally {
    await world.close();
  }
}
