/**
 * Records a fixture of the component as it stands in this tree: `npx tsx --experimental-vm-modules tests/upgrade/record.ts`. Run
 * it on the last commit of a version, before the next one changes the schema, and commit the file it writes; the test takes every
 * fixture that is there.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as prettier from "prettier";
import { root } from "../support/paths.js";
import type { StoredCommit } from "../../local/engine/store.js";
import { ARGS_TABLE, SCHEDULED_TABLE } from "../../local/functions/scheduledTable.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import { createWorld } from "../../local/virtual/world.js";
import { install, makeApp, RUNNER } from "./app.js";
import {
  callsOf,
  encode,
  FOLDER,
  pendingCalls,
  rowsOf,
  tablesOf,
  type Fixture,
  type Row,
} from "./fixture.js";
import { live } from "./life.js";

/** Keeps the rows right after the first commit at which everything is under way at once. */
class Recorder extends MemoryStore {
  watching = false;
  caught: Pick<Fixture, "at" | "ts" | "tables"> | null = null;
  now: () => number = () => 0;

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    for (const commit of commits) {
      await super.append([commit]);
      if (this.watching && this.caught === null) this.caught = this.#catch(commit);
    }
  }

  #catch({ ts, writes }: StoredCommit): Recorder["caught"] {
    // Only then can it have come about.
    if (!writes.some(({ table }) => table === SCHEDULED_TABLE)) return null;
    const tables = tablesOf(this);
    const calls = pendingCalls({ tables });
    const plans = callsOf(calls, "edges/callbacks:planCallback").map(
      ({ argsId }) =>
        rowsOf({ tables }, ARGS_TABLE).find(({ _id }) => _id === argsId)!.args[0].tries as bigint,
    );
    const all =
      plans.some((tries) => Number(tries) === 0) &&
      plans.some((tries) => Number(tries) > 1) &&
      callsOf(calls, "edges/callbacks:tryCallback").length > 0 &&
      callsOf(calls, "tend/janitor:sweep").length > 0;
    return all ? { at: this.now(), ts: String(ts), tables } : null;
  }
}

/** Ended functions that no row names are of no use; the platform deletes them after a week. */
function withoutPast(tables: Fixture["tables"]): Fixture["tables"] {
  const named = new Set(rowsOf({ tables }, "callbacks").map(({ trying }) => trying as string));
  const isPresent = ({ _id, state }: Row) => state.kind === "pending" || named.has(_id);
  const args = new Set(
    rowsOf({ tables }, SCHEDULED_TABLE)
      .filter(isPresent)
      .map(({ argsId }) => argsId as string),
  );
  return tables
    .map((table) => {
      if (table.name === SCHEDULED_TABLE) return { ...table, rows: table.rows.filter(isPresent) };
      if (table.name === ARGS_TABLE)
        return { ...table, rows: table.rows.filter(({ _id }) => args.has(_id)) };
      return table;
    })
    .filter(({ rows }) => rows.length > 0);
}

/** Time for the first callbacks to have run. */
const MOMENT_MS = 1_000;

const store = new Recorder();
const world = await createWorld({ seed: 1, store, runner: RUNNER });
store.now = () => world.now();
await install(world, await makeApp());
const sessions = await live(world, () => (store.watching = true));
await world.advance(MOMENT_MS);
await world.close();
if (store.caught === null)
  throw new Error("There was no moment at which everything was under way.");

const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  version: string;
};
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root }).toString();
const fixture: Fixture = {
  madeBy: { version, commit: commit.trim() },
  ...store.caught,
  sessions: sessions.map(({ known }) => known),
  tables: withoutPast(store.caught.tables),
};
mkdirSync(FOLDER, { recursive: true });
const file = path.join(FOLDER, `${version}-${fixture.madeBy.commit}.json`);
// The paths of this machine do not belong in the fixture.
const json = JSON.stringify(encode(fixture)).replaceAll(/(\\n {4}at [^"\\]*)+/g, "");
const text = await prettier.format(json, {
  ...(await prettier.resolveConfig(file)),
  filepath: file,
});
writeFileSync(file, text);
console.log(`${file}: ${fixture.tables.reduce((sum, { rows }) => sum + rows.length, 0)} rows.`);
