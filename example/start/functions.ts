/** Calls the official CLI against the backend: pushes the example's functions, and runs one of them. */
import { cliEnvironment } from "../../local/convexCli.js";
import type { RunningBackend } from "./backend.js";
import type { Children } from "./children.js";
import { convexCli } from "./repository.js";

/**
 * `convex deploy` and not `convex dev --once`, which pushes the same but also rewrites `.env.local`: a deployment that
 * was configured there would be lost.
 */
export async function pushFunctions(children: Children, backend: RunningBackend): Promise<void> {
  // Types are checked by `npm run typecheck`; here they would only make a newcomer wait.
  const args = convexCli("deploy", "--yes", "--typecheck", "disable", "--codegen", "disable");
  await children.run("The push", args, cliEnvironment(backend));
}

/** Makes a worker's token, as an operator would: `npx convex run workers:create`. */
export async function createToken(children: Children, backend: RunningBackend): Promise<string> {
  const args = convexCli("run", "workers:create", JSON.stringify({ name: "render farm" }));
  const output = await children.run("Making a token", args, cliEnvironment(backend));
  const token = /"token":\s*"([^"]+)"/.exec(output)?.[1];
  if (token === undefined) throw new Error(`The CLI printed no token:\n${output}`);
  return token;
}
