/** How the dashboard's address is kept: in the page's hash, unless the app brings its own way. */
import { useSyncExternalStore } from "react";

/** Where the dashboard's address lives, and where its links lead. */
export interface Routing {
  /** The dashboard's part of the address, such as `/queues/tiles?status=failed`; a hook. */
  usePath(): string;
  /** What a link to such a path has for its `href`. */
  hrefOf(path: string): string;
  /** Goes there; `replace`: without a step in the history, as for each letter of a filter. */
  go(path: string, options?: { replace?: boolean }): void;
}

/**
 * Keeps the address in the page's hash, as in `#/queues/tiles?status=failed`: it needs nothing of the server or of the app's
 * own routes.
 *
 * @param prefix What stands before the path in the hash, where an app uses its hash for other things too.
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
      // The browser tells nobody of a replaced address.
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
