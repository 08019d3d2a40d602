/** Flags and environment of `npx convex-conveyor dashboard`. */
import { parseArgs } from "node:util";

export const DASHBOARD_USAGE = `Shows the dashboard of a deployment, for this machine only.

  npx convex-conveyor dashboard [options]

  --url URL          address of the deployment             (or CONVEX_URL, CONVEX_SELF_HOSTED_URL)
  --module PATH      module under convex/ that exports the functions of \`conveyor.dashboardApi\`;
                     default "dashboard"
  --token JWT        signs in as the user of this token    (or CONVEYOR_DASHBOARD_TOKEN)
  --admin-key KEY    calls as an administrator             (or CONVEYOR_DASHBOARD_ADMIN_KEY)
  --identity JSON    with --admin-key: user to act as; the value of \`getUserIdentity()\`, with its
                     "issuer" and "subject"
  --port N           port of the page; default any free port
  --help             shows this text

The app's \`authorize\` decides about reads and changes, as for any caller. Token and key stay in this program and are
not sent to the browser. Other users of this machine can read flags: pass secrets by environment variables.`;

const TOKEN = /^cvy_[0-9a-f]{8}_[0-9a-f]{64}$/;
export const TOKEN_COMMAND = `npx convex run --component conveyor operate:createToken '{"name": "workers"}'`;

export interface DashboardOptions {
  readonly url: string;
  readonly module: string;
  /** 0 is any that is free. */
  readonly port: number;
  readonly token?: string;
  readonly adminKey?: string;
  readonly identity?: Record<string, unknown>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Flags win over the environment. Returns `null` when only help was asked for; otherwise throws with the correction to
 * make.
 */
export function readDashboardOptions(
  args: readonly string[],
  environment: Environment,
): DashboardOptions | null {
  const values = parsed(args);
  if (values.help) return null;
  const isGiven = values.token !== undefined || values["admin-key"] !== undefined;
  const credentials = isGiven ? {} : environment;
  const token = values.token ?? credentials["CONVEYOR_DASHBOARD_TOKEN"];
  const adminKey = values["admin-key"] ?? credentials["CONVEYOR_DASHBOARD_ADMIN_KEY"];
  if (token && adminKey) {
    throw new Error("Give --token or --admin-key, not both: a caller is one or the other.");
  }
  if (values.identity !== undefined && !adminKey) {
    throw new Error("--identity needs --admin-key: only an administrator may act as another user.");
  }
  return {
    url: readUrl(values.url, environment),
    module: readModule(values.module),
    port: readPort(values.port),
    ...(token ? { token } : {}),
    ...(adminKey ? { adminKey } : {}),
    ...(values.identity === undefined ? {} : { identity: readIdentity(values.identity) }),
  };
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        url: { type: "string" },
        module: { type: "string", default: "dashboard" },
        token: { type: "string" },
        "admin-key": { type: "string" },
        identity: { type: "string" },
        port: { type: "string", default: "0" },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${message}\nOptions: npx convex-conveyor dashboard --help`, { cause: error });
  }
}

function readUrl(given: string | undefined, environment: Environment): string {
  // A variable of no characters counts as none, as for `work`.
  const url = given ?? (environment["CONVEX_URL"] || environment["CONVEX_SELF_HOSTED_URL"]);
  if (!url) {
    throw new Error(
      "Which deployment? Give --url or set CONVEX_URL, as in --url https://happy-animal-123.convex.cloud.",
    );
  }
  return checkUrl(url);
}

/** Without a slash at its end. */
export function checkUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Error(`--url must be an address with https:// or http://; got ${url}.`);
  }
  if (new URL(url).hostname.endsWith(".convex.site")) {
    throw new Error(
      `--url must be the address of functions, which ends with .convex.cloud; ${url} is where HTTP actions are.`,
    );
  }
  return url.replace(/\/+$/, "");
}

/** Of a worker. */
export function checkToken(token: string): string {
  if (TOKEN.test(token)) return token;
  throw new Error(
    'This is no worker token: one begins with "cvy_" and has 77 characters. ' +
      `The app makes one with: ${TOKEN_COMMAND}`,
  );
}

function readModule(module: string): string {
  if (/^[\w-]+(\/[\w-]+)*$/.test(module)) return module;
  throw new Error(
    `--module must be a path under convex/ without an extension, as in "dashboard" or "admin/queues"; got ${module}.`,
  );
}

function readPort(text: string): number {
  const port = Number(text);
  if (text !== "" && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`--port must be a whole number from 0 to 65535; got ${text}.`);
}

function readIdentity(text: string): Record<string, unknown> {
  try {
    const identity: unknown = JSON.parse(text);
    const { issuer, subject } = identity as Record<string, unknown>;
    if (typeof issuer === "string" && typeof subject === "string") {
      return identity as Record<string, unknown>;
    }
  } catch {
    // The same message as for a value that is no object.
  }
  throw new Error(
    `--identity must be a JSON object with both, as in '{"issuer": "https://…", "subject": "ann"}'; got ${text}.`,
  );
}
