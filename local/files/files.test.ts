import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createTestClock,
  PRELUDE,
  startTestBackend,
  type TestBackend,
} from "../functions/testing.js";
import { createFetch, type Fetch } from "../server/http.js";
import { bytesInMemory, type FileBytes } from "./bytes.js";
import { bytesInFolder } from "./bytesInFolder.js";
import { createFiles } from "./files.js";
import { fileRoutes } from "./fileRoutes.js";

const LIB = `${PRELUDE}
  export const uploadUrl = mutation({ handler: (ctx) => ctx.storage.generateUploadUrl() });
  export const url = query({ args: { id: v.string() }, handler: (ctx, { id }) => ctx.storage.getUrl(id) });
  export const metadata = query({ args: { id: v.string() }, handler: (ctx, { id }) => ctx.storage.getMetadata(id) });
  export const row = query({ args: { id: v.id("_storage") }, handler: (ctx, { id }) => ctx.db.system.get("_storage", id) });
  export const rows = query({ handler: (ctx) => ctx.db.system.query("_storage").collect() });
  export const drop = mutation({ args: { id: v.id("_storage"), fail: v.optional(v.boolean()) }, handler: async (ctx, { id, fail }) => {
    await ctx.storage.delete(id);
    if (fail) throw new Error("after the delete");
  } });
  export const other = mutation({ handler: (ctx) => ctx.db.insert("things", {}) });
  export const storeInMutation = mutation({ handler: (ctx) => ctx.storage.store(new Blob(["x"])) });
  export const getInMutation = mutation({ args: { id: v.string() }, handler: (ctx, { id }) => ctx.storage.get(id) });
  export const storeText = action({ args: { text: v.string(), type: v.optional(v.string()), sha256: v.optional(v.string()) },
    handler: (ctx, { text, type, sha256 }) => ctx.storage.store(new Blob([text], { type }), sha256 ? { sha256 } : undefined) });
  export const storeString = action({ handler: async (ctx) => {
    try { await ctx.storage.store("text") } catch (error) { return [error instanceof Error, error.message] } } });
  export const readText = action({ args: { id: v.string() }, handler: async (ctx, { id }) => {
    const blob = await ctx.storage.get(id);
    return blob && { text: await blob.text(), type: blob.type, isBlob: blob instanceof Blob };
  } });
  export const dropInAction = action({ args: { id: v.string() }, handler: (ctx, { id }) => ctx.storage.delete(id) });
  export const actionUrl = action({ handler: async (ctx) => ctx.storage.generateUploadUrl() });
`;

const folder = await mkdtemp(path.join(tmpdir(), "stored-files-"));
afterAll(() => rm(folder, { recursive: true }));

describe.each([
  ["in memory", bytesInMemory],
  ["in a folder", () => bytesInFolder(path.join(folder, "files"))],
])("files %s", (_where, makeBytes: () => FileBytes) => {
  let backend: TestBackend;
  let fetch: Fetch;
  const clock = createTestClock();

  beforeAll(async () => {
    const files = createFiles({ bytes: makeBytes(), origin: "http://cloud", secret: "s" });
    const sources = { "": { "lib.ts": LIB }, child: { "lib.ts": LIB } };
    backend = await startTestBackend(sources, { clock, runner: { files } });
    const onCrash = (error: unknown) => {
      throw error;
    };
    fetch = createFetch(fileRoutes(clock, backend.database, files), onCrash);
  });
  afterAll(() => backend.stop());

  const post = (url: string, body: BodyInit, headers: Record<string, string> = {}) =>
    fetch(new Request(url, { method: "POST", body, headers }));
  const upload = async (body: BodyInit, headers: Record<string, string> = {}, where = "") => {
    const url = (await backend.mutation(`${where}lib:uploadUrl`)) as string;
    const response = await post(url, body, headers);
    expect(response.status).toBe(200);
    return ((await response.json()) as { storageId: string }).storageId;
  };
  const get = (url: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(new Request(url, { method, headers }));
  const digest = (text: string) => createHash("sha256").update(text).digest("base64");

  test("an uploaded file is served with its type, its digest, and unchanged", async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 7) % 256);
    const id = await upload(bytes, { "Content-Type": "image/png" });
    const url = (await backend.query("lib:url", { id })) as string;
    const response = await get(url);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": "70000",
      "cache-control": "private, max-age=2592000",
      "accept-ranges": "bytes",
      digest: `sha-256=${createHash("sha256").update(bytes).digest("base64")}`,
      "access-control-allow-origin": "*",
    });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    const head = await get(url, {}, "HEAD");
    expect([head.headers.get("content-length"), await head.text()]).toEqual(["70000", ""]);
  });

  test("its row is in _storage, and shows the documented fields and nothing else", async () => {
    const id = await upload("hello", { "Content-Type": "text/plain" });
    const row = (await backend.query("lib:row", { id })) as Record<string, unknown>;
    expect(row).toEqual({
      _id: id,
      _creationTime: expect.any(Number) as number,
      sha256: digest("hello"),
      size: 5,
      contentType: "text/plain",
    });
    expect(await backend.query("lib:rows")).toContainEqual(row);
    expect(await backend.query("lib:metadata", { id })).toMatchObject({
      sha256: Buffer.from(digest("hello"), "base64").toString("hex"),
      size: 5,
    });
  });

  test("an action stores a Blob and gets it back", async () => {
    const id = (await backend.action("lib:storeText", { text: "grüße", type: "text/x" })) as string;
    const read = { text: "grüße", type: "text/x", isBlob: true };
    expect(await backend.action("lib:readText", { id })).toEqual(read);
    expect(await (await get((await backend.query("lib:url", { id })) as string)).text()).toBe(
      "grüße",
    );
    const untyped = (await backend.action("lib:storeText", { text: "" })) as string;
    expect(await backend.query("lib:row", { id: untyped })).toMatchObject({
      size: 0,
      contentType: null,
    });
  });

  test("a part of a file is served by range", async () => {
    const id = await upload("0123456789");
    const url = (await backend.query("lib:url", { id })) as string;
    const part = async (range: string) => {
      const response = await get(url, { Range: range });
      return [response.status, response.headers.get("content-range"), await response.text()];
    };
    expect(await part("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await part("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=5-99")).toEqual([206, "bytes 5-9/10", "56789"]);
    expect(await part("bytes=10-")).toEqual([416, "bytes */10", ""]);
    expect(await part("bytes=0-1,4-5")).toEqual([416, "bytes */10", ""]);
    expect(await part("lines=1-2")).toEqual([200, null, "0123456789"]);
  });

  test("a deleted file is gone for functions and clients; a file with a failed delete is not", async () => {
    const id = (await backend.action("lib:storeText", { text: "kept" })) as string;
    const url = (await backend.query("lib:url", { id })) as string;
    await expect(backend.mutation("lib:drop", { id, fail: true })).rejects.toThrow(
      "after the delete",
    );
    expect(await (await get(url)).text()).toBe("kept");

    await backend.mutation("lib:drop", { id });
    expect(await backend.query("lib:url", { id })).toBeNull();
    expect(await backend.action("lib:readText", { id })).toBeNull();
    const response = await get(url);
    expect([response.status, await response.json()]).toMatchObject([404, { code: "FileNotFound" }]);
    await expect(backend.mutation("lib:drop", { id })).rejects.toThrow(
      `storage id ${id} not found`,
    );
    const other = (await backend.action("lib:storeText", { text: "x" })) as string;
    await backend.action("lib:dropInAction", { id: other });
    expect(await backend.query("lib:row", { id: other })).toBeNull();
  });

  test("a component's files are its own", async () => {
    const id = await upload("child's", {}, "child::");
    expect(await backend.query("child::lib:rows")).toHaveLength(1);
    expect(await backend.query("lib:rows")).not.toContainEqual(
      expect.objectContaining({ _id: id }),
    );
    const url = (await backend.query("child::lib:url", { id })) as string;
    expect(await (await get(url)).text()).toBe("child's");
    expect((await get(url.split("?")[0]!)).status).toBe(404);
    expect((await get(`${url.split("?")[0]!}?component=nobody`)).status).toBe(404);
  });

  test.each([
    ["sha-256 of something else", { Digest: `sha-256=${digest("other")}` }, 400, "Sha256Mismatch"],
    ["a digest that is none", { Digest: "md5=abc" }, 400, "BadHeader"],
    ["a content type that is none", { "Content-Type": "nonsense" }, 400, "BadHeader"],
  ])("an upload with %s is refused and stores nothing", async (_what, headers, status, code) => {
    const before = (await backend.query("lib:rows")) as unknown[];
    const url = (await backend.action("lib:actionUrl")) as string;
    const response = await post(url, "hello", headers);
    expect([response.status, await response.json()]).toMatchObject([status, { code }]);
    expect(await backend.query("lib:rows")).toHaveLength(before.length);
  });

  test("a digest that is right is taken, in an upload and in an action", async () => {
    await upload("hello", { Digest: `sha-256=${digest("hello")}` });
    await backend.action("lib:storeText", { text: "hello", sha256: digest("hello") });
    const wrong = backend.action("lib:storeText", { text: "hello", sha256: digest("no") });
    await expect(wrong).rejects.toThrow("Sha256 mismatch. Expected:");
  });

  test("an upload URL that is forged, for another component, or an hour old is refused", async () => {
    const url = new URL((await backend.mutation("lib:uploadUrl")) as string);
    const token = url.searchParams.get("token")!;
    const forged = Buffer.from(JSON.stringify({ namespace: "child", issuedAt: clock.now() }));
    const signature = token.split(".")[1]!;
    for (const bad of ["", "x", `${token}x`, `${forged.toString("base64url")}.${signature}`]) {
      url.searchParams.set("token", bad);
      const response = await post(url.href, "x");
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { code: "StorageTokenInvalid" },
      ]);
    }
    expect((await post("http://cloud/api/storage/upload", "x")).status).toBe(400);
    const old = (await backend.mutation("lib:uploadUrl")) as string;
    clock.advance(3_600_001);
    expect((await post(old, "x")).status).toBe(401);
  });

  test("bytes are out of reach in queries and mutations, and a value that is no Blob is refused", async () => {
    const stored = backend.mutation("lib:storeInMutation");
    await expect(stored).rejects.toThrow("Can't use storage.store in queries and mutations");
    const got = backend.mutation("lib:getInMutation", { id: "x" });
    await expect(got).rejects.toThrow("Can't use storage.get in queries and mutations");
    const refused = (await backend.action("lib:storeString")) as [boolean, string];
    expect(refused).toEqual([true, expect.stringContaining("takes a Blob")]);
  });

  test("a text that is no id of a file is refused, and a path that is none", async () => {
    const nonsense = backend.query("lib:url", { id: "nonsense" });
    await expect(nonsense).rejects.toThrow(
      /Invalid argument `storageId` for `storage.getUrl`: Invalid storage ID: "nonsense"/,
    );
    const id = (await backend.mutation("lib:other")) as string;
    const other = backend.query("lib:url", { id });
    await expect(other).rejects.toThrow("any table other than '_storage'");
    const response = await get("http://cloud/api/storage/nonsense");
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "InvalidStoragePath" },
    ]);
  });
});

test("the bytes of deleted files leave the folder, and unfinished ones do not stay", async () => {
  const place = path.join(folder, "own");
  const bytes = bytesInFolder(place);
  await bytes.write("0a", new Uint8Array([1, 2, 3]));
  expect(await bytes.read("0a", { start: 1, end: 3 })).toEqual(new Uint8Array([2, 3]));
  expect(await readdir(place)).toEqual(["0a"]);
  await bytes.remove("0a");
  await bytes.remove("0a");
  expect(await readdir(place)).toEqual([]);
  expect(await bytes.read("0a")).toBeNull();
  await expect(bytes.write("../out", new Uint8Array())).rejects.toThrow("no key");
});
