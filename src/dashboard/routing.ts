/** The dashboard's address: in the page's hash, unless the app has its own routing. */
import { useSyncExternalStore } from "react";

/** The place of the dashboard's address, and the targets of its links. */
export interface Routing {
  /** The dashboard's part of the address, such as `/queues/tiles?status=failed`; a hook. */
  usePath(): string;
  /** The `href` of a link to such a path. */
  hrefOf(path: string): string;
  /** Goes to a path; `replace`: without a step in the history, as for each letter of a filter. */
  go(path: string, options?: { replace?: boolean }): void;
}

/**
 * Keeps the address in the page's hash, as in `#/queues/tiles?status=failed`: neither the server nor the app's own routes
 * need a change.
 *
 * @param prefix The text before the path in the hash, for an app that uses its hash for other pages too.
 * @default prefix none
 * @example
 * const routing = hashRouting("/admin");
 * <Dashboard api={api.dashboard} routing={routing} />;
 */
export function hashRouting(prefix = ""): Routing {
  const hrefOf = (path: string) => `#${prefix}${path}`;
  const pathOf = (hash: string) => {
    const whole = hash.replace(/^#/, "");
    return whole.startsWith(prefix) ? whole.slice(prefix.length) || "/" : "/";
  };
  return {
    usePath: () => pathOf(useSyncExternalStore(subscribe, readHash, noHash)),
    hrefOf,
    go(path, { replace = false } = {}) {
      if (!replace) {
        window.location.hash = hrefOf(path);
        return;
      }
      window.history.replaceState(window.history.state, "", hrefOf(path));
      // A replaced address fires no event of its own.
      window.dispatchEvent(new HashChangeEvent("hashchange"));
    },
  };
}

const readHash = () => window.location.hash;
const noHash = () => "";

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}
