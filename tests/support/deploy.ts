/**
 * An app on a local backend as the official CLI would have it: the CLI bundles it once for each state of the sources, and its
 * calls are repeated for each backend. The CLI itself takes seconds; the README's app and those of newcomers are pushed by it.
 */
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import type { Deployment } from "../../local/convexCli.js";
import { bundleApp, pushBundle } from "../../local/virtual/appBundle.js";
import type { TakesAdminKey } from "../../src/cli/probe.js";
import { linkPackage } from "./link.js";
import { root } from "./paths.js";

/** `app` is a folder of this repository. */
export async function deploy(app: string, to: Deployment): Promise<void> {
  linkPackage(app);
  const bundle = await bundleApp(app, { inputs: [path.join(root, "dist")] });
  await pushBundle(bundle, to.adminKey, async (call, body) => {
    const response = await fetch(to.url + call, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Convex ${to.adminKey}` },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${call} answered ${response.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
  });
}

/** Of the official client, and missing from its types. */
interface Sends extends TakesAdminKey {
  function(of: string, componentPath: string | undefined, args: object): Promise<unknown>;
}

/** Calls any function as `convex run` does, without starting the CLI. */
export async function runAsAdmin(
  on: Deployment,
  of: string,
  args: object,
  component?: string,
): Promise<unknown> {
  const client = new ConvexHttpClient(on.url, { logger: false }) as unknown as Sends;
  client.setAdminAuth(on.adminKey);
  return await client.function(of, component, args);
}
