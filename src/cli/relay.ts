/**
 * The page's WebSocket, relayed to the deployment. The credential is put in here, where the page's client asks to be signed in, and
 * so is in no byte that the browser is sent. With it, the page may call only the dashboard's functions: the
 * deployment's other functions, tables and environment are out of reach for a page that runs foreign code.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer, type RawData } from "ws";
import { RELAY_PATH } from "./config.js";
import type { DashboardOptions } from "./options.js";

/** The deployment, its functions, and as which caller. */
export type Target = Omit<DashboardOptions, "port">;

const SYNC = new RegExp(`^/${RELAY_PATH}(/api/\\d[\\w.-]*/sync)$`);
/** Of the WebSocket protocol: a message that is not allowed; the other end is gone. */
const POLICY = 1008;
const GOING_AWAY = 1001;

export class Relay {
  readonly #server = new WebSocketServer({ noServer: true });
  constructor(private readonly target: Target) {}

  /** The path at the deployment, or `null` where nothing is relayed. */
  pathOf(path: string): string | null {
    return SYNC.exec(path)?.[1] ?? null;
  }

  /** Connects to the deployment first: a browser whose deployment does not answer is refused, and tries again. */
  connect(request: IncomingMessage, socket: Duplex, head: Buffer, path: string): void {
    const deployment = new WebSocket(this.target.url.replace(/^http/, "ws") + path);
    socket.once("close", () => deployment.terminate());
    const fail = (): void => refuseUpgrade(socket, 502);
    deployment.once("error", fail);
    deployment.once("open", () => {
      deployment.off("error", fail);
      // Each error is followed by a close.
      deployment.on("error", () => {});
      this.#server.handleUpgrade(request, socket, head, (browser) =>
        join(browser, deployment, this.target),
      );
    });
  }
}

/** Answers a request for a WebSocket without one. */
export function refuseUpgrade(socket: Duplex, status: 403 | 404 | 405 | 502): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

function join(browser: WebSocket, deployment: WebSocket, target: Target): void {
  deployment.on("message", (data, isBinary) => browser.send(data, { binary: isBinary }));
  deployment.on("close", (code, reason) => {
    // 1005, 1006 and 1015 say that no code came, and may not be sent.
    browser.close([1005, 1006, 1015].includes(code) ? GOING_AWAY : code, reason);
  });
  browser.on("error", () => {});
  browser.on("message", (data) => {
    const text = relayed(target, data);
    if (text === null) browser.close(POLICY, "This page may call only the dashboard's functions.");
    else deployment.send(text);
  });
}

/** A message of the page as the deployment gets it: with the credential where one is asked for; `null` if it may not be sent. */
export function relayed(target: Target, data: RawData): string | null {
  const message = parsed(data);
  if (message === null) return null;
  if (message.type === "Authenticate") {
    const { type, baseVersion } = message;
    return JSON.stringify({ type, baseVersion, ...credentialOf(target) });
  }
  // As it was understood here, and not as it came: of two fields of one name, another reader may take the other.
  return callsOf(message)?.every((call) => isAllowed(target, call)) === true
    ? JSON.stringify(message)
    : null;
}

interface Call {
  udfPath?: unknown;
  componentPath?: unknown;
}
interface Message extends Call {
  type?: unknown;
  baseVersion?: unknown;
  modifications?: unknown;
}

function parsed(data: RawData): Message | null {
  try {
    const message: unknown = JSON.parse((data as Buffer).toString());
    return typeof message === "object" ? message : null;
  } catch {
    return null;
  }
}

/** The calls of functions in a message; `null` for one of a kind that the page's client does not send. */
function callsOf({ type, modifications, ...call }: Message): Call[] | null {
  if (type === "Connect" || type === "Event") return [];
  if (type === "Mutation" || type === "Action") return [call];
  if (type !== "ModifyQuerySet" || !Array.isArray(modifications)) return null;
  const all = modifications.map((one) => Object(one) as { type?: unknown } & Call);
  return all.filter((one) => one.type !== "Remove");
}

function isAllowed({ module }: Target, { udfPath, componentPath }: Call): boolean {
  return (
    typeof udfPath === "string" && udfPath.startsWith(`${module}:`) && componentPath === undefined
  );
}

function credentialOf({ token, adminKey, identity }: Target): object {
  if (adminKey !== undefined) {
    return { tokenType: "Admin", value: adminKey, impersonating: identity };
  }
  return token === undefined ? { tokenType: "None" } : { tokenType: "User", value: token };
}
