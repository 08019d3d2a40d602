/** Each part that README.md lists as left out fails with an error that names it: nothing is quietly something else. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PRELUDE, startTestBackend, type TestBackend } from "./functions/testing.js";
import { createFetch } from "./server/http.js";
import { infoRoutes } from "./server/infoRoutes.js";

const LIB = `${PRELUDE}
  import { getServiceToken, getServiceUrl } from "convex/server";
  export const vectorSearch = action((ctx) => ctx.vectorSearch("notes", "by_embedding", { vector: [1, 2] }));
  export const textSearch = query((ctx) => ctx.db.query("notes").withSearchIndex("by_text", (q) => q.search("text", "x")).collect());
  export const stagedIndex = query((ctx) => ctx.db.query("notes").withIndex("by_staged", (q) => q.eq("text", "x")).collect());
  export const signJwt = mutation((ctx) => ctx.auth.signJwt({ audience: "a", expiresInSeconds: 60 }));
  export const audit = mutation(() => Convex.asyncSyscall("1.0/auditLog", JSON.stringify({ body: {} })));
  export const serviceUrl = action(() => getServiceUrl("aiGateway"));
  export const serviceToken = action(() => getServiceToken("aiGateway"));
  export const unheardOf = mutation(() => Convex.asyncSyscall("1.0/unheardOf", "{}"));
`;
const SCHEMA = `${PRELUDE}
  export default defineSchema({
    notes: defineTable({ text: v.string(), embedding: v.array(v.float64()) })
      .searchIndex("by_text", { searchField: "text" })
      .vectorIndex("by_embedding", { vectorField: "embedding", dimensions: 2 })
      .index("by_staged", { fields: ["text"], staged: true }),
  });
`;

describe("in a function", () => {
  let backend: TestBackend;
  beforeAll(async () => {
    backend = await startTestBackend({ "": { "lib.ts": LIB, "schema.ts": SCHEMA } });
  });
  afterAll(() => backend.stop());

  test.each([
    ["vectorSearch", "action", "Vector search (ctx.vectorSearch) is not supported by the local"],
    ["textSearch", "query", "by_text is a search index, which the local backend does not have"],
    ["stagedIndex", "query", "by_staged"],
    ["signJwt", "mutation", "Signing tokens (ctx.auth.signJwt) is not supported by the local"],
    ["audit", "mutation", "The audit log is not supported by the local"],
    ["serviceUrl", "action", "Convex-managed services is not supported by the local"],
    ["serviceToken", "action", "Convex-managed services is not supported by the local"],
    ["unheardOf", "mutation", 'Unknown async operation "1.0/unheardOf"'],
  ] as const)("%s fails and names itself", async (name, kind, message) => {
    await expect(backend[kind](`lib:${name}`)).rejects.toThrow(message);
  });
});

describe("over HTTP", () => {
  const fetch = createFetch(infoRoutes(), (error) => {
    throw error;
  });

  test.each([
    ["import", "POST /api/import/start_upload"],
    ["import", "POST /api/streaming_import/import_airbyte_records"],
    ["export", "POST /api/export/request/zip"],
    ["the dashboard's own calls", "GET /api/app_metrics/stream_udf_execution"],
    ["log streams", "POST /api/logs/register_sink"],
    ["streaming export", "GET /api/document_deltas"],
    ["insights", "GET /api/dashboard/insights"],
  ])("%s: %s is refused by name", async (_what, route) => {
    const [method = "", path = ""] = route.split(" ");
    const response = await fetch(new Request(`http://local${path}`, { method }));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: "UnsupportedByLocalBackend",
      message: expect.stringContaining(`does not serve ${route}`) as string,
    });
  });
});
