/** HTTP actions: each does one thing that a case checks. */
import { httpRouter } from "convex/server";
import { api } from "./_generated/api.js";
import { httpAction } from "./_generated/server.js";

const http = httpRouter();

http.route({
  path: "/echo",
  method: "POST",
  handler: httpAction(async (_ctx, request) => {
    const { pathname, search } = new URL(request.url);
    const body = {
      method: request.method,
      at: pathname + search,
      asked: request.headers.get("x-asked"),
      text: await request.text(),
    };
    return new Response(JSON.stringify(body), { status: 201, headers: { "X-Answered": "yes" } });
  }),
});

http.route({
  path: "/rows",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const { group, ns } = (await request.json()) as { group: string; ns: number[] };
    const ids = await ctx.runMutation(api.rows.seed, { group, ns });
    const steps = [{ op: "read" }];
    return Response.json(await ctx.runQuery(api.rows.look, { group, ids, steps }));
  }),
});

http.route({
  pathPrefix: "/below/",
  method: "GET",
  handler: httpAction(
    async (_ctx, request) => new Response(`below ${new URL(request.url).pathname}`),
  ),
});

http.route({
  path: "/below/exactly",
  method: "GET",
  handler: httpAction(async () => new Response("exactly")),
});

http.route({
  path: "/fails",
  method: "GET",
  handler: httpAction(async () => {
    throw new Error("told to fail");
  }),
});

http.route({
  path: "/parts",
  method: "GET",
  handler: httpAction(async () => {
    const encoder = new TextEncoder();
    const parts = ["one ", "two ", "three"];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(encoder.encode(part));
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/x-parts" } });
  }),
});

http.route({
  path: "/who",
  method: "GET",
  handler: httpAction(async (ctx) =>
    Response.json((await ctx.auth.getUserIdentity())?.subject ?? null),
  ),
});

export default http;
