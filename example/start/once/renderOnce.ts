/**
 * `npm start -- --once`: the farm's promise, put to the test without a browser. One picture; one worker killed while it
 * holds tiles; every tile there in the end; the killed worker's tiles done by other workers in a second attempt; and a
 * summary of the picture, which Convex itself has written.
 */
import { ConvexClient } from "convex/browser";
import { api } from "../../convex/_generated/api.js";
import type { Id } from "../../convex/_generated/dataModel.js";
import { sceneOf, VIEWS } from "../../src/presets.js";
import type { Farm } from "../farm.js";
import { say, step } from "../steps.js";
import { summaryThatEnded, tilesThat, type Tile } from "./follow.js";
import { killWhileHolding } from "./kill.js";
import { readRun } from "./run.js";
import { printRun, summaryInWords } from "./table.js";
import { shortcomingsOf, shortcomingsOfSummary } from "./verify.js";

/** Far more than it takes anywhere: only a hanging run is cut off. */
const PATIENCE_MS = 90_000;

/** Returns the exit code: 0 when nothing is missing. */
export async function renderOnce(farm: Farm): Promise<number> {
  const client = new ConvexClient(farm.backend.url);
  try {
    const view = VIEWS[0]!;
    const scene = sceneOf({ view, palette: view.palette, size: "medium", quality: "finest" });
    const picture = await client.mutation(api.pictures.create, { title: view.name, scene });
    const atWork = await follow(
      client,
      picture,
      "Waiting for the first tiles",
      (tiles) => tiles.filter(isDone).length >= 4,
    );
    if (atWork.every(isDone)) throw new Error("The picture was done before a worker was killed.");

    const victim = farm.workers[0]!;
    const held = await step(`Killing ${victim.name} with SIGKILL while it holds tiles`, () =>
      killWhileHolding(client, victim),
    );
    say(`    ${victim.name} held ${held.length} of them; it is not replaced`);
    await follow(client, picture, "Waiting for every tile", (tiles) => tiles.every(isSettled));

    const row = await step("Waiting for Convex's own summary of it", () =>
      summaryThatEnded(client, picture, PATIENCE_MS),
    );

    const run = await readRun(client, picture);
    printRun(run, victim.name);
    const shortcomings = [
      ...(await shortcomingsOf(client, run, held, victim.name)),
      ...shortcomingsOfSummary(row, run),
    ];
    for (const shortcoming of shortcomings) say(`  Missing: ${shortcoming}`);
    if (shortcomings.length > 0) return 1;
    say(`  Convex's summary: ${summaryInWords(row.summary!)}`);
    say(
      `\nEvery tile is there. ${victim.name} was killed holding ${held.length}; other workers drew them anew.`,
    );
    return 0;
  } finally {
    await client.close();
  }
}

async function follow(
  client: ConvexClient,
  picture: Id<"pictures">,
  name: string,
  enough: (tiles: readonly Tile[]) => boolean,
): Promise<readonly Tile[]> {
  return await step(name, () => tilesThat(client, picture, enough, PATIENCE_MS));
}

function isDone({ status }: Tile): boolean {
  return status === "succeeded";
}

function isSettled({ status }: Tile): boolean {
  return status !== "unfinished";
}
