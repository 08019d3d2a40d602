/** The runtime around a worker, as far as it tells. `index.node.ts` has the one of Node, Bun and Deno. */
import type { Load } from "./pressure.js";

export interface Host {
  /** The name of a worker that has none. */
  name: () => string;
  /**
   * Calls back at each signal to stop, the first time with 1. Returns the function that ends the listening.
   */
  onStopSignal: (callback: (times: number) => void) => () => void;
  /** Absent where the runtime tells nothing. */
  load?: Load;
  /** Of the machine and the process, where there are such. */
  hostname?: string;
  pid?: number;
}

/** Of a browser, and of every other runtime: there are no signals, and no host's name. */
export const anyHost: Host = {
  name: () => `worker:${newId().slice(0, 8)}`,
  onStopSignal: () => () => {},
};

/** Random. A page without HTTPS has no `randomUUID`. */
export function newId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
