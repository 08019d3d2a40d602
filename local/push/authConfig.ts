/**
 * Evaluates a pushed `auth.config.ts`: which providers' tokens the app takes. It is evaluated with the deployment's
 * variables, so again whenever these change.
 */
import { parseProviders, type AuthProvider } from "../auth/providers.js";
import { PlatformError } from "../functions/errors.js";
import { createSandbox } from "../functions/sandbox.js";
import type { ModuleSource } from "../functions/types.js";
import { describe, failure } from "./failures.js";

const AUTH_CONFIG = "auth.config.js";

export async function evaluateAuthConfig(
  modules: ReadonlyMap<string, ModuleSource>,
  variables: ReadonlyMap<string, string>,
): Promise<AuthProvider[]> {
  const config = modules.get(AUTH_CONFIG);
  if (config === undefined) return [];
  let missing: string | null = null;
  const sandbox = createSandbox(modules, {
    env: variables,
    onMissingVariable: (name) => void (missing ??= name),
  });
  try {
    const exports = await sandbox.import(AUTH_CONFIG);
    if (missing === null) return parseProviders(exports["default"]);
  } catch (thrown) {
    if (thrown instanceof PlatformError) throw thrown;
    if (missing === null) {
      throw failure(
        "InvalidModules",
        `Loading the pushed modules encountered the following error:\n` +
          `Failed to analyze auth.config.js: Uncaught ${describe(thrown)}`,
      );
    }
  }
  // The CLI picks the name out of this sentence, and tells how to set it.
  throw failure(
    "AuthConfigMissingEnvironmentVariable",
    `Environment variable ${missing} is used in auth config file but its value was not set`,
  );
}

/** As `finish_push` tells it: one line of JSON for each provider that came or went. */
export function authDifference(
  before: readonly AuthProvider[],
  after: readonly AuthProvider[],
): { added: string[]; removed: string[] } {
  const [old, now] = [before, after].map((providers) =>
    providers.map((provider) => JSON.stringify(provider)),
  ) as [string[], string[]];
  return {
    added: now.filter((provider) => !old.includes(provider)),
    removed: old.filter((provider) => !now.includes(provider)),
  };
}
