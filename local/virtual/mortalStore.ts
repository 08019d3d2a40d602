/** A store as one backend sees it: when that has crashed, it keeps nothing of it any more, and never answers. */
import type { Store } from "../engine/store.js";
import type { Branch } from "./branch.js";

export function mortalStore(store: Store, place: Branch): Store {
  const alive = <T>(work: () => Promise<T>): Promise<T> =>
    place.state === "dropped" ? new Promise<T>(() => {}) : work();
  return {
    load: () => store.load(),
    rows: () => store.rows(),
    append: (commits) => alive(() => store.append(commits)),
    close: () => alive(() => store.close()),
  };
}
