import { fileURLToPath } from "node:url";
import { anyApi } from "convex/server";
import { beforeAll, expect, test } from "vitest";
import { bundleApp, type AppBundle } from "./appBundle.js";
import { evaluatedApp } from "./evaluatedApp.js";
import { keepSandboxes } from "./keptSandboxes.js";
import { createWorld, type WorldOptions } from "./world.js";

const FOLDER = fileURLToPath(new URL("./fixtures/busy", import.meta.url));
const { bump, notes } = anyApi["busy"]!;
const SANDBOXES = keepSandboxes();

let app: AppBundle;

beforeAll(async () => {
  app = await bundleApp(FOLDER);
});

/** What a world says after two calls, one of them after a restart. */
async function bumped(given: Partial<WorldOptions>, pushed?: AppBundle): Promise<unknown> {
  const world = await createWorld({ seed: 1, ...given });
  if (pushed !== undefined) await world.push(pushed);
  const client = world.httpClient();
  await world.run(client.mutation(bump!, { by: "a" }));
  await world.restartBackend();
  await world.run(client.mutation(bump!, { by: "b" }));
  const rows: { _id: string; _creationTime: number }[] = await world.run(client.query(notes!, {}));
  await world.close();
  return rows.map(({ _id, _creationTime, ...row }) => row);
}

test("worlds that are given it do what a world does to which the app is pushed, and leave each other nothing", async () => {
  const expected = await bumped({}, app);
  expect(expected).not.toEqual([]);
  const given = { deployment: await evaluatedApp(app), runner: { sandboxes: SANDBOXES } };
  for (let world = 0; world < 2; world++) expect(await bumped(given)).toEqual(expected);
});

test("an app is evaluated once for the same variables, in any order, and apart for others", async () => {
  const [first, again, other] = await Promise.all([
    evaluatedApp(app, { A: "1", B: "2" }),
    evaluatedApp(app, { B: "2", A: "1" }),
    evaluatedApp(app, { A: "2" }),
  ]);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  expect([first, other].map(({ instances }) => instances.get("")!.env.get("A"))).toEqual([
    "1",
    "2",
  ]);
});

test("an app that cannot be evaluated is evaluated anew", async () => {
  const broken: AppBundle = { startPush: {} };
  const first = evaluatedApp(broken);
  await expect(first).rejects.toThrow();
  const second = evaluatedApp(broken);
  expect(second).not.toBe(first);
  await expect(second).rejects.toThrow();
});
