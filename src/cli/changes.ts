/**
 * Changes of an app's source files. Each folder is watched by itself, since one watch of the whole tree would take
 * `node_modules` along.
 */
import { existsSync, readdirSync, watch, type FSWatcher } from "node:fs";
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
 * @param onUnwatched Gets the first error of a folder that is there and is not watched, as where the system has no watch left.
 * @returns The function that ends the watch.
 */
export function watchSources(
  folder: string,
  onChange: (file: string) => void,
  onUnwatched: (folder: string, error: Error) => void,
  watchFolder: typeof watch = watch,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let isTold = false;

  const tryToWatch = (one: string): FSWatcher | undefined => {
    try {
      return watchFolder(one, (event, name) => {
        if (name !== null) hear(path.join(one, name), event === "rename");
      });
    } catch (error) {
      // It may be gone by now.
      if (existsSync(one)) tellOnce(one, error as Error);
      return undefined;
    }
  };

  const tellOnce = (one: string, error: Error): void => {
    if (!isTold) onUnwatched(one, error);
    isTold = true;
  };

  const add = (one: string): void => {
    if (watchers.has(one)) return;
    if (watchers.size >= FOLDERS_MAX) return tellOnce(one, tooMany());
    const watcher = tryToWatch(one);
    if (watcher === undefined) return;
    watcher.on("error", () => forget(one));
    watchers.set(one, watcher);
    for (const entry of foldersIn(one)) add(entry);
  };

  /** With all below. A watch stays with the folder that was here, and hears nothing of another one of the same name. */
  const forget = (one: string): void => {
    for (const [watched, watcher] of [...watchers]) {
      if (watched !== one && !watched.startsWith(one + path.sep)) continue;
      watcher.close();
      watchers.delete(watched);
    }
  };

  const hear = (file: string, hasComeOrGone: boolean): void => {
    if (isLeftOut(path.basename(file))) return;
    const wasFolder = watchers.has(file);
    const isFolder = foldersIn(path.dirname(file)).includes(file);
    if (wasFolder && !hasComeOrGone) return;
    if (wasFolder) forget(file);
    // Its files may be there already.
    if (isFolder) add(file);
    if (!wasFolder && !isFolder && !SOURCE.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(path.relative(folder, file)), QUIET_MS);
  };

  add(folder);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function tooMany(): Error {
  return new Error(
    `at most ${FOLDERS_MAX} folders are watched. Begin in the folder of the worker's own sources.`,
  );
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
