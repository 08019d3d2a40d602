/**
 * Serves the page to this machine. What it is told may be a credential, so that its address has a part that nobody can guess:
 * neither another user of the machine nor a page of another site finds it.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import type { PageConfig } from "./config.js";

/** Where the build puts the page: beside this program. */
const PAGE = fileURLToPath(new URL("../site", import.meta.url));
const LOOPBACK = "127.0.0.1";

export interface Served {
  /** Where to look. */
  readonly url: string;
  close(): Promise<void>;
}

/** Throws what to do where the port is taken, or the page was not built. */
export async function serve(
  config: PageConfig,
  { port, folder = PAGE }: { port: number; folder?: string },
): Promise<Served> {
  if (!existsSync(`${folder}/index.html`)) {
    throw new Error(`The page is not in ${folder}. In this repository, make it with: npm run page`);
  }
  const secret = randomBytes(16).toString("hex");
  const files = sirv(folder, { dev: false, etag: true });
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headersFor(config))) response.setHeader(name, value);
    const path = within(secret, request);
    if (path === null) return refuse(response);
    if (path === "/config.json") return answer(response, config);
    request.url = path;
    files(request, response, () => refuse(response));
  });
  server.listen(port, LOOPBACK);
  await once(server, "listening").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new Error(`Port ${port} is taken. Give another with --port, or none for any.`);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${taken}/${secret}/`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The path behind the secret, or `null` for whoever does not know it. */
function within(secret: string, { url = "/" }: IncomingMessage): string | null {
  const prefix = `/${secret}`;
  return url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : null;
}

function answer(response: ServerResponse, config: PageConfig): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(config));
}

function refuse(response: ServerResponse): void {
  response.statusCode = 404;
  response.setHeader("content-type", "text/plain");
  response.end("There is nothing here. Open the whole address that was printed.\n");
}

/** The page talks to its deployment and to nobody else, and tells no other site where it was. */
function headersFor({ url }: PageConfig): Record<string, string> {
  const { origin } = new URL(url);
  const policy = [
    "default-src 'self'",
    `connect-src 'self' ${origin} ${origin.replace(/^http/, "ws")}`,
    "img-src 'self' data:",
    "style-src 'self' 'unsafe-inline'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}
