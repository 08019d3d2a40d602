/** The same as `routes.test.ts`, with as many routes as a queue may have, and the usual shards. */
import { describe, test } from "vitest";
import { ROUTES_MAX, SHARDS_DEFAULT } from "../../shared/index.js";
import { comeFree, CONTINUED, keptForApp, leavesHalf, WAYS_TO_GIVE_UP } from "./heldPlaces.test.js";

/** With eight shards more places than a queue may have. */
const MANY = { shards: SHARDS_DEFAULT, held: 66, routes: 20, apps: 20 };

describe("what workers continue with leaves the app half of the routes and places", () => {
  test.each(CONTINUED)("%s", async (_, options) => {
    await leavesHalf(options, { shards: 4, jobs: 100, apps: ROUTES_MAX / 2 - 1 });
  });
});

describe("many places", () => {
  test.each(WAYS_TO_GIVE_UP)(
    "that a token's workers held and %s are not taken from the app",
    async (_, giveUp) => {
      await keptForApp(giveUp, MANY);
    },
  );

  test("that workers' jobs wait for come free when other jobs of theirs have run", async () => {
    await comeFree(MANY);
  });
});
