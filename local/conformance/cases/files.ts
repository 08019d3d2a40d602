/** File storage: uploads, URLs, rows, deletion. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import type { Id } from "../app/convex/_generated/dataModel.js";
import { NO_WIRE, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";

async function upload(target: Target, body: string): Promise<Id<"_storage">> {
  const url = await target.mutation(api.files.uploadUrl, {});
  const headers = { "Content-Type": "text/x-test" };
  const reply = await fetch(url, { method: "POST", headers, body });
  expect(reply.status).toBe(200);
  return ((await reply.json()) as { storageId: Id<"_storage"> }).storageId;
}

function stores(id: string, says: string, run: Case["run"]): Case {
  return { id, says, run, convexTest: NO_WIRE };
}

export const files: Case[] = [
  stores("7.file-upload", "an uploaded file is served, with its type", async (target) => {
    const id = await upload(target, "grüße");
    const reply = await fetch((await target.query(api.files.url, { id }))!);
    expect(reply.headers.get("content-type")).toBe("text/x-test");
    expect(await reply.text()).toBe("grüße");
  }),
  stores("7.file-row", "its row tells size, type and digest", async (target) => {
    const id = await upload(target, "hello");
    expect(await target.query(api.files.metadata, { id })).toMatchObject({
      _id: id,
      size: 5,
      contentType: "text/x-test",
      sha256: createHash("sha256").update("hello").digest("base64"),
    });
  }),
  stores("7.file-action", "an action stores a Blob and reads it back", async (target) => {
    const stored = await target.action(api.files.store, { text: "kept", type: "text/y" });
    expect(stored).toMatchObject({ text: "kept", type: "text/y" });
    const reply = await fetch((await target.query(api.files.url, { id: stored.id }))!);
    expect(await reply.text()).toBe("kept");
  }),
  stores(
    "7.file-deleted",
    "a deleted file has neither URL nor row, and is not served any more; after a rolled back delete it is",
    async (target) => {
      const { id } = await target.action(api.files.store, { text: "gone", type: "text/y" });
      const url = (await target.query(api.files.url, { id }))!;
      const failed = await refusal(target.mutation(api.files.remove, { id, fails: true }));
      expect(failed).toContain("after the delete");
      expect(await (await fetch(url)).text()).toBe("gone");
      await target.mutation(api.files.remove, { id, fails: false });
      expect(await target.query(api.files.url, { id })).toBeNull();
      expect(await target.query(api.files.metadata, { id })).toBeNull();
      expect((await fetch(url)).status).toBe(404);
    },
  ),
];
