/** The digest by which the CLI tells which of the app's modules it need not send again. */
import { createHash } from "node:crypto";
import { PlatformError } from "../functions/errors.js";
import type { ModuleSource } from "../functions/types.js";
import type { ModuleHash } from "./request.js";

export function hashOf(module: ModuleSource): string {
  return createHash("sha256")
    .update(module.source)
    .update(module.sourceMap ?? "")
    .digest("hex");
}

export function hashesOf(modules: Iterable<ModuleSource>): ModuleHash[] {
  return [...modules].map((module) => ({
    path: module.path,
    environment: module.environment,
    sha256: hashOf(module),
  }));
}

/**
 * The modules sent, with the left out ones taken from the last push. Another push in between may have changed them: the
 * digest decides, and the CLI then starts again.
 */
export function completeModules(
  sent: ModuleSource[],
  unchanged: ModuleHash[],
  deployed: ReadonlyMap<string, ModuleSource>,
): Map<string, ModuleSource> {
  const modules = new Map(sent.map((module) => [module.path, module]));
  for (const { path, sha256, environment } of unchanged) {
    const known = deployed.get(path);
    if (!known || known.environment !== environment || hashOf(known) !== sha256) {
      throw new PlatformError(
        400,
        "RaceDetected",
        `Module ${path} was left out as unchanged, but the deployment holds another version of it. ` +
          `Another push came in between: push again.`,
      );
    }
    modules.set(path, known);
  }
  return modules;
}
