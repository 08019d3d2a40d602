import path from "node:path";
import { fileURLToPath } from "node:url";
import { anyApi } from "convex/server";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleApp, type AppBundle } from "./appBundle.js";
import { createWorld, type World } from "./world.js";

const FOLDER = fileURLToPath(new URL("./fixtures/busy", import.meta.url));
const PROGRAM = path.join(FOLDER, "program.ts");
const { bump, notes } = anyApi["busy"]!;

let app: AppBundle;

async function open(seed = 1): Promise<World> {
  const world = await createWorld({ seed, jitter: 0 });
  await world.push(app);
  return world;
}

beforeAll(async () => {
  app = await bundleApp(FOLDER);
});

describe("the official clients", () => {
  test("take the time of a round trip and of the work, and nothing of this machine's", async () => {
    const world = await open();
    const client = world.httpClient();
    const from = world.now();
    await world.run(client.query(notes!, {}));
    // Two ways of 15 ms, a start of 2.5 ms, one read of 1.55 ms.
    expect(world.now() - from).toBeCloseTo(34.05, 1);
    await world.close();
  });

  test("a lost reply is an error to the caller, and the mutation has happened", async () => {
    const world = await open();
    const client = world.httpClient("unlucky");
    world.network.link("unlucky").faults.loseReplies = 1;
    await expect(world.run(client.mutation(bump!, { by: "a" }))).rejects.toThrow("fetch failed");
    world.network.link("unlucky").mend();
    expect(await counted(world)).toBe(1);
    await world.close();
  });

  test("a request that arrives twice is carried out twice", async () => {
    const world = await open();
    const client = world.httpClient("twice");
    world.network.link("twice").faults.repeatRequests = 1;
    await world.run(client.mutation(bump!, { by: "a" }));
    await world.advance(1_000);
    expect(await counted(world)).toBe(2);
    await world.close();
  });

  test("a connection of which the network swallowed something breaks when it carries again, and the call is sent anew", async () => {
    const world = await open();
    const client = world.client("unheard");
    await world.run(client.mutation(bump!, { by: "a" }));
    const link = world.network.link("unheard");
    link.faults.down = "silent";
    const pending = client.mutation(bump!, { by: "a" });
    await world.advance(5_000);
    link.mend();
    const mendedAt = world.now();
    await world.run(pending);
    expect(world.now() - mendedAt).toBeLessThan(5_000);
    expect(await counted(world)).toBe(2);
    await world.close();
  });

  test("a mutation over a socket that is cut is sent again and happens once", async () => {
    const world = await open();
    const client = world.client("cut");
    const pending = client.mutation(bump!, { by: "a" });
    // Connected, sent, and not yet answered.
    await world.advance(48);
    world.network.link("cut").cut();
    await world.run(pending);
    expect(await counted(world)).toBe(1);
    await world.close();
  });

  test.each(["is closed before it is open", "loses its program before it has arrived"])(
    "a socket that %s leaves nothing at the backend",
    async (what) => {
      const world = await open();
      const place = world.clock.branch("short");
      const link = world.network.connect("short", place);
      link.faults.extraLatencyMs = 100;
      const socket = link.socket(`${world.url.replace("http", "ws")}/api/1.0.0/sync`);
      link.faults.extraLatencyMs = 0;
      if (what.startsWith("loses")) {
        place.drop();
        link.hangUp();
      } else {
        await world.advance(120);
        expect(socket.readyState).toBe(0);
        socket.close();
      }
      await world.advance(60_000);
      const before = world.clock.events;
      await world.advance(3_600_000);
      expect(world.clock.events - before).toBeLessThan(10);
      await world.close();
    },
  );

  test("subscriptions go on after the backend has crashed, with the committed rows", async () => {
    const world = await open();
    const seen: number[] = [];
    world.client().onUpdate(notes!, {}, (rows: string[]) => seen.push(rows.length));
    await world.advance(1_000);
    await world.restartBackend({ downMs: 500 });
    const client = world.httpClient();
    for (let i = 0; i < 2; i++) await world.run(client.mutation(bump!, { by: "a" }));
    await world.advance(20_000);
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBeGreaterThan(0);
    await world.close();
  });
});

describe("a backend", () => {
  test("serves HTTP actions at an address of its own, and counts", async () => {
    const world = await open();
    expect(world.stats.snapshot().total.calls).toBe(0);
    await world.run(world.httpClient().query(notes!, {}));
    expect(world.stats.snapshot().total.calls).toBe(1);
    const place = world.clock.branch("visitor");
    const { fetch } = world.network.connect("visitor", place);
    const response = await world.run(fetch(`${world.siteUrl}/nothing`));
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("HTTP actions"),
    ]);
    await world.close();
  });

  test("stops a function with more than a second of JavaScript by the model, each time", async () => {
    const world = await createWorld({ seed: 1, jitter: 0, costs: { userPerCallMs: 600 } });
    await world.push(app);
    const client = world.httpClient();
    for (let i = 0; i < 2; i++) {
      await expect(world.run(client.mutation(bump!, { by: "a" }))).rejects.toThrow(
        "Function execution timed out (maximum duration: 1s)",
      );
    }
    expect(await counted(world)).toBe(0);
    await world.close();
    const patient = await createWorld({
      seed: 1,
      costs: { userPerCallMs: 600 },
      runner: { userTimeMs: 60_000 },
    });
    await patient.push(app);
    await patient.run(patient.httpClient().mutation(bump!, { by: "a" }));
    expect(await counted(patient)).toBe(1);
    await patient.close();
  });
});

async function counted(world: World): Promise<number> {
  const tx = world.backend.database.begin();
  const range = { table: "counters", index: "by_creation_time", range: [], order: "asc" } as const;
  const reading = (async () => {
    for await (const row of tx.stream("", { ...range, range: [] })) return row["count"] as number;
    return 0;
  })();
  return world.run(reading);
}

describe("a program", () => {
  test("that is killed does nothing more; one that is paused goes on later", async () => {
    const world = await open();
    const start = (name: string) => world.program(PROGRAM, { name, env: { URL: world.url } });
    const [killed, paused, free] = [await start("a"), await start("b"), await start("c")];
    await world.until(() => [killed, paused, free].every(({ lines }) => lines.length >= 2), {
      withinMs: 10_000,
    });
    killed.kill();
    paused.pause();
    const before = [killed.lines.length, paused.lines.length];
    await world.advance(30_000);
    expect([killed.lines.length, paused.lines.length]).toEqual(before);
    expect(free.lines).toHaveLength(9);
    paused.resume();
    await world.advance(60_000);
    expect(paused.lines).toHaveLength(9);
    expect([killed.state, await killed.ended]).toEqual(["ended", null]);
    await world.close();
  });

  test("may have a wrong clock, and ends when a test kills it", async () => {
    const world = await open();
    const program = await world.program(PROGRAM, { name: "early", env: { URL: world.url } });
    program.skewMs = 3_600_000;
    await world.until(() => program.lines.length >= 2, { withinMs: 10_000 });
    const told = Number(program.lines.at(-1)!.split(" ").at(-1));
    expect(told - world.now()).toBeGreaterThan(3_500_000);
    program.signal("SIGTERM");
    await world.advance(10);
    expect(program.state).toBe("ended");
    await world.close();
  });

  test("that fails ends with its error", async () => {
    const world = await open();
    const program = await world.program(PROGRAM, { name: "nowhere", env: {} });
    await world.advance(10);
    expect([program.exitCode, String(program.error)]).toEqual([
      1,
      expect.stringMatching(/address|URL/),
    ]);
    await world.close();
  });
});
