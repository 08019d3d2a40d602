/**
 * Changes of an app's source files. Each folder is watched by itself, since one watch of the whole tree would take
 * `node_modules` along.
 */
import { readdirSync, watch, type FSWatcher } from "node:fs";
import path from "node:path";

const SOURCE = /\.([mc]?[jt]sx?|json)$/;
/** An editor writes a file in several steps, and a build writes several files. */
const QUIET_MS = 200;
/** Above it, a program is not at the root of its app. */
const FOLDERS_MAX = 2_000;

const isLeftOut = (name: string) => name === "node_modules" || name.startsWith(".");

/**
 * Calls back when source files under the folder have changed and none did for a moment.
 *
 * @returns The function that ends the watch.
 */
export function watchSources(folder: string, onChange: (file: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  const add = (one: string): void => {
    if (watchers.has(one) || watchers.size >= FOLDERS_MAX) return;
    const watcher = watch(one, (_, name) => name !== null && hear(path.join(one, name)));
    const remove = () => {
      watcher.close();
      watchers.delete(one);
    };
    // The folder is gone.
    watcher.on("error", remove);
    watchers.set(one, watcher);
    for (const entry of foldersIn(one)) add(entry);
  };

  const hear = (file: string): void => {
    if (isLeftOut(path.basename(file))) return;
    if (!SOURCE.test(file)) {
      // A new folder, perhaps, whose files are there already.
      if (foldersIn(path.dirname(file)).includes(file)) add(file);
      else return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => onChange(path.relative(folder, file)), QUIET_MS);
  };

  add(folder);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !isLeftOut(entry.name))
      .map(({ name }) => path.join(folder, name));
  } catch {
    return [];
  }
}
