/**
 * Serves the page to this machine, and relays its calls to the deployment (`relay.ts`). Its address has a part that is different
 * each time and cannot be guessed: neither another user of the machine nor a page of another site finds it. A request that
 * names another host is refused, so that no site's name can be made to mean this address (DNS rebinding); so is a WebSocket
 * that another site's page opens.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import type { PageConfig } from "./config.js";
import { refuseUpgrade, Relay, type Target } from "./relay.js";

/** The build's folder of the page: next to this program. */
const PAGE = fileURLToPath(new URL("../site", import.meta.url));
const LOOPBACK = "127.0.0.1";
const METHODS = ["GET", "HEAD"];

export interface Served {
  /** The address to open. */
  readonly url: string;
  close(): Promise<void>;
}

/** Throws with the way out where the port is taken, or the page was not built. */
export async function serve(
  target: Target,
  { port, folder = PAGE }: { port: number; folder?: string },
): Promise<Served> {
  if (!existsSync(`${folder}/index.html`)) {
    throw new Error(`The page is not in ${folder}. In this repository, make it with: npm run page`);
  }
  const server = createServer();
  const sockets = new Set<Duplex>();
  server.on("connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(port, LOOPBACK);
  await once(server, "listening").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new Error(`Port ${port} is taken. Give another with --port, or none for any.`);
  });
  const { port: taken } = server.address() as AddressInfo;
  // Without the port where that is HTTP's own, as browsers name it.
  const origin = new URL(`http://${LOOPBACK}:${taken}`);
  const secret = randomBytes(16).toString("hex");
  const gate = new Gate(origin, secret);
  answerRequests(server, gate, target, folder);
  answerUpgrades(server, gate, new Relay(target));
  return {
    url: `${origin.origin}/${secret}/`,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

type Refusal = 403 | 404 | 405;

/** Which requests are answered. */
class Gate {
  constructor(
    readonly origin: URL,
    private readonly secret: string,
  ) {}

  /** The path behind the secret, or why there is no answer. */
  enter({ url = "/", method = "", headers }: IncomingMessage): string | Refusal {
    if (headers.host !== this.origin.host) return 403;
    if (!METHODS.includes(method)) return 405;
    const prefix = `/${this.secret}`;
    return url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : 404;
  }
}

function answerRequests(server: Server, gate: Gate, target: Target, folder: string): void {
  const files = sirv(folder, { dev: false, etag: true });
  const headers = headersFor(gate.origin);
  server.on("request", (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const path = gate.enter(request);
    if (typeof path === "number") return refuse(response, path);
    if (path === "/config.json") return answer(response, target);
    request.url = path;
    files(request, response, () => refuse(response, 404));
  });
}

/** A page of another site may open a WebSocket to anywhere: its origin says so. */
function answerUpgrades(server: Server, gate: Gate, relay: Relay): void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A browser that goes in the middle of it.
    socket.on("error", () => socket.destroy());
    const path = gate.enter(request);
    if (typeof path === "number") return refuseUpgrade(socket, path);
    if (request.headers.origin !== gate.origin.origin) return refuseUpgrade(socket, 403);
    const relayed = relay.pathOf(path);
    if (relayed === null) return refuseUpgrade(socket, 404);
    relay.connect(request, socket, head, relayed);
  });
}

function answer(response: ServerResponse, { url, module, token, adminKey }: Target): void {
  const signsIn = token !== undefined || adminKey !== undefined;
  const config: PageConfig = { name: new URL(url).host, module, signsIn };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(config));
}

const REFUSALS: Record<Refusal, string> = {
  403: "This page is for this machine only. Open the address exactly as printed.",
  404: "Not found. Open the whole printed address.",
  405: `Only ${METHODS.join(" and ")} are allowed here.`,
};

function refuse(response: ServerResponse, status: Refusal): void {
  response.statusCode = status;
  if (status === 405) response.setHeader("allow", METHODS.join(", "));
  response.setHeader("content-type", "text/plain");
  response.end(`${REFUSALS[status]}\n`);
}

/** The page talks to this program alone, and tells no other site where it was. */
function headersFor({ host }: URL): Record<string, string> {
  const policy = [
    "default-src 'self'",
    `connect-src 'self' ws://${host}`,
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
