/** Which picture is shown. It lives in the address, so a reload or a link shows the same one. */
import { useSyncExternalStore } from "react";

/** The address holds a person's text: whether there is such a picture, the backend says. */
export function useSelection(): [string | null, (picture: string) => void] {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return [hash.startsWith("#/") ? hash.slice(2) : null, select];
}

function select(picture: string): void {
  window.location.hash = `/${picture}`;
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}
