/** HTTP actions, on a site with paths of the app only. */
import { expect } from "vitest";
import { newGroup, NO_WIRE, type Case } from "../case.js";
import { tokenOf } from "../users.js";

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

function site(id: string, says: string, ask: (ask: Ask) => Promise<void>): Case {
  const run: Case["run"] = (target) =>
    ask((path, init) => fetch(`${target.server().siteUrl}${path}`, init));
  return { id, says, convexTest: NO_WIRE, run };
}

export const httpActions: Case[] = [
  site("7.http-echo", "an HTTP action has the request, and its response is sent", async (ask) => {
    const reply = await ask("/echo?a=1", {
      method: "POST",
      headers: { "X-Asked": "this" },
      body: "grüße",
    });
    expect(reply.status).toBe(201);
    expect(reply.headers.get("x-answered")).toBe("yes");
    const heard = { method: "POST", at: "/echo?a=1", asked: "this", text: "grüße" };
    expect(await reply.json()).toEqual(heard);
  }),
  site("7.http-runs", "it runs mutations, which commit at once, and queries", async (ask) => {
    const body = JSON.stringify({ group: newGroup(), ns: [3, 4] });
    const reply = await ask("/rows", { method: "POST", body });
    expect(await reply.json()).toEqual([[3, 4]]);
  }),
  site("7.http-routes", "an exact path goes before a prefix", async (ask) => {
    const texts = ["/below/exactly", "/below/exactly/not", "/below/"].map(async (path) =>
      (await ask(path)).text(),
    );
    expect(await Promise.all(texts)).toEqual([
      "exactly",
      "below /below/exactly/not",
      "below /below/",
    ]);
  }),
  site("7.http-missing", "a path or a method that has no route is not found", async (ask) => {
    expect((await ask("/nowhere")).status).toBe(404);
    expect((await ask("/echo", { method: "PUT" })).status).toBe(404);
  }),
  site("7.http-fails", "one that throws is answered with status 500", async (ask) => {
    expect((await ask("/fails")).status).toBe(500);
  }),
  site("7.http-stream", "a body may come in parts", async (ask) => {
    const reply = await ask("/parts");
    expect(reply.headers.get("content-type")).toBe("text/x-parts");
    expect(await reply.text()).toBe("one two three");
  }),
  site("7.http-head", "HEAD runs the function of GET, and sends no body", async (ask) => {
    const reply = await ask("/parts", { method: "HEAD" });
    expect([reply.status, await reply.text()]).toEqual([200, ""]);
  }),
  site("7.http-user", "it knows the user by the bearer's token", async (ask) => {
    const headers = { Authorization: `Bearer ${await tokenOf("ada")}` };
    expect(await (await ask("/who", { headers })).json()).toBe("ada");
    expect(await (await ask("/who")).json()).toBeNull();
  }),
];
