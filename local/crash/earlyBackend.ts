/**
 * A backend with a planted bug, to see that the crash test sees it: commits are acknowledged when they are handed to the
 * store, and written a moment later. Takes the options of `local/main.ts` that the crash test gives.
 */
import { parseArgs } from "node:util";
import { startBackend } from "../backend.js";
import type { Store, StoredCommit } from "../engine/store.js";
import { wallEnvironment } from "../environment.js";
import { openSqliteStore } from "../store/sqliteStore.js";

const LATE_MS = 100;

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    data: { type: "string", default: "" },
    "admin-key": { type: "string", default: "" },
    quiet: { type: "boolean" },
  },
});
const backend = await startBackend({
  port: Number(values.port),
  adminKey: values["admin-key"],
  quiet: true,
  database: { store: hasty(await openSqliteStore(wallEnvironment, { directory: values.data })) },
});
console.log(`CONVEX_SELF_HOSTED_URL='${backend.url}'`);

function hasty(store: Store): Store {
  let writing = Promise.resolve();
  return {
    load: () => store.load(),
    rows: () => store.rows(),
    close: () => store.close(),
    append(commits: readonly StoredCommit[]) {
      writing = writing.then(async () => {
        await new Promise((resolve) => setTimeout(resolve, LATE_MS));
        await store.append(commits);
      });
      return Promise.resolve();
    },
  };
}
