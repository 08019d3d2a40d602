import { afterAll, beforeAll, expect, test } from "vitest";
import { createCore, type Core } from "../backend.js";
import type { DoorSocket } from "./door.js";

let core: Core;
beforeAll(async () => {
  core = await createCore(
    { cloud: "http://backend.test", site: "http://site.test" },
    { quiet: true },
  );
});
afterAll(() => core.close());

test("HTTP needs no port: any host in the URL works, and a refusal is a response", async () => {
  const version = await core.fetch(new Request("http://anything.test/version"));
  expect(version.status).toBe(200);
  expect(version.headers.get("content-length")).toBe(String((await version.text()).length));
  const query = new Request("http://anything.test/api/query", { method: "POST", body: "[" });
  expect((await core.fetch(query)).status).toBe(400);
});

test("the sync protocol needs no socket: frames come in order, and not before the client has fallen silent", async () => {
  const { socket, frames, next } = listen();
  socket.send(CONNECT);
  socket.send(ADD_MISSING);
  expect(frames).toEqual([]);
  expect(JSON.parse(await next())).toMatchObject({
    type: "Transition",
    modifications: [{ type: "QueryFailed" }],
  });
  socket.close();
});

test("frames that a client sends before it closes arrive, and its own end is reported to it once", async () => {
  const ends: number[] = [];
  const { socket } = listen();
  const ended = new Promise<void>((resolve) => {
    socket.onClose = (code) => {
      ends.push(code);
      resolve();
    };
  });
  socket.send("nonsense");
  socket.close(1000);
  socket.close(1000);
  core.dropConnections();
  await ended;
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toHaveLength(1);
});

test("a dropped connection has the same close code as one that the network cut", async () => {
  const { socket } = listen();
  const code = new Promise((resolve) => (socket.onClose = resolve));
  core.dropConnections();
  expect(await code).toBe(1006);
});

const CONNECT = JSON.stringify({
  type: "Connect",
  sessionId: "s",
  connectionCount: 0,
  lastCloseReason: null,
});
const ADD_MISSING = JSON.stringify({
  type: "ModifyQuerySet",
  baseVersion: 0,
  newVersion: 1,
  modifications: [{ type: "Add", queryId: 0, udfPath: "no:thing", args: [{}] }],
});

function listen(): { socket: DoorSocket; frames: string[]; next: () => Promise<string> } {
  const socket = core.connect();
  const frames: string[] = [];
  let wake: () => void = () => {};
  socket.onMessage = (frame) => {
    frames.push(frame);
    wake();
  };
  const next = async (): Promise<string> => {
    while (frames.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return frames.shift()!;
  };
  return { socket, frames, next };
}
