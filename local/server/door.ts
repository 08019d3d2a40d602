/**
 * The way into the backend without a port: HTTP as `fetch`, and the sync protocol as a socket of functions. Node's
 * server stands in front of the same two; a simulator uses them as they are.
 */
import type { Fetch } from "./http.js";
import type { SyncServer } from "./sync/syncServer.js";

export interface Door {
  /** Never rejects: an error is a response. The URL's host does not matter. */
  fetch: Fetch;
  /** A connection that is open at once. */
  connect(): DoorSocket;
}

/**
 * The client's end of a connection. The server's frames arrive in microtasks of their own, in order, and never while
 * the client itself is sending; so a handler that is set before anything is awaited misses nothing.
 */
export interface DoorSocket {
  /** Text of one frame. After the end it goes nowhere, as on a network. */
  send(text: string): void;
  /** Ends it; `onClose` is called with the same code. */
  close(code?: number, reason?: string): void;
  onMessage: ((text: string) => void) | null;
  /** Called once, for an end from either side: 1006 when it was cut, 1005 when no code was given. */
  onClose: ((code: number, reason: string) => void) | null;
  /** The server asks whether the client is there. Answered of itself, unless this is set: then by `pong`. */
  onPing: (() => void) | null;
  pong(): void;
}

export function createDoor(fetch: Fetch, sync: SyncServer): Door {
  return { fetch, connect: () => connect(sync) };
}

function connect(sync: SyncServer): DoorSocket {
  let open = true;
  let hungUp = false;
  const end = (code = 1005, reason = ""): void => {
    if (!open) return;
    open = false;
    line.closed();
    queueMicrotask(() => socket.onClose?.(code, reason));
  };
  const line = sync.accept({
    async send(frame) {
      if (open) queueMicrotask(() => socket.onMessage?.(frame));
    },
    close: end,
    ping: () =>
      queueMicrotask(() => {
        if (!open) return;
        if (socket.onPing) socket.onPing();
        else line.heard();
      }),
    terminate: () => end(1006, ""),
  });
  const socket: DoorSocket = {
    send(text) {
      if (!hungUp) queueMicrotask(() => open && line.receive(text));
    },
    close(code = 1000, reason = "") {
      hungUp = true;
      queueMicrotask(() => end(code, reason));
    },
    pong: () => open && line.heard(),
    onMessage: null,
    onClose: null,
    onPing: null,
  };
  return socket;
}
