/** The standalone page's server, over real HTTP, with a folder that tests fill. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serve, type Served } from "./serve.js";

const config = { url: "https://happy-animal-123.convex.cloud", module: "dashboard", token: "jwt" };
let parent: string;
let folder: string;
let served: Served | undefined;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), "page-"));
  folder = path.join(parent, "page");
  mkdirSync(folder);
  writeFileSync(path.join(folder, "index.html"), "<title>Queues</title>");
  mkdirSync(path.join(folder, "assets"));
  writeFileSync(path.join(folder, "assets", "page.js"), "export {};");
});

afterEach(async () => {
  await served?.close();
  served = undefined;
  rmSync(parent, { recursive: true });
});

const start = async (port = 0) => (served = await serve(config, { port, folder }));

test("the page, its files and its settings are at the address that is printed", async () => {
  const { url } = await start();
  expect(new URL(url).hostname).toBe("127.0.0.1");
  const page = await fetch(url);
  expect(await page.text()).toContain("<title>Queues</title>");
  expect(page.headers.get("content-type")).toContain("text/html");
  const script = await fetch(new URL("assets/page.js", url));
  expect(script.headers.get("content-type")).toContain("javascript");
  expect(await (await fetch(new URL("config.json", url))).json()).toEqual({
    ...{ name: "happy-animal-123.convex.cloud", module: "dashboard", signsIn: true },
  });
});

test("every other address answers 404 and sends nothing", async () => {
  const { url } = await start();
  const { origin, pathname } = new URL(url);
  const wrong = pathname.replace(/[0-9a-f]/, (digit) => (digit === "0" ? "1" : "0"));
  for (const at of [
    "/",
    "/config.json",
    "/index.html",
    pathname.slice(0, -1),
    `${wrong}config.json`,
  ]) {
    const response = await fetch(origin + at);
    expect([at, response.status]).toEqual([at, 404]);
    expect(await response.text()).not.toContain("jwt");
  }
});

test("nothing outside of its folder is served", async () => {
  writeFileSync(path.join(parent, "beside.txt"), "a secret");
  const { url } = await start();
  const { port, pathname } = new URL(url);
  // `fetch` would tidy the path up.
  for (const at of ["../beside.txt", "..%2fbeside.txt", "assets/../../beside.txt"]) {
    const text = await new Promise<string>((resolve, reject) => {
      request({ port, host: "127.0.0.1", path: pathname + at }, (response) => {
        let body = "";
        response.on("data", (part: Buffer) => (body += part.toString()));
        response.on("end", () => resolve(`${response.statusCode} ${body}`));
      })
        .on("error", reject)
        .end();
    });
    expect(text).toMatch(/^404/);
    expect(text).not.toContain("a secret");
  }
});

test("the page may talk only to the program that serves it", async () => {
  const { url } = await start();
  const policy = (await fetch(url)).headers.get("content-security-policy");
  expect(policy).toContain(`connect-src 'self' ws://${new URL(url).host};`);
  expect(policy).toContain("frame-ancestors 'none'");
});

/** As a browser would ask that takes another name for this address. */
async function askAs(host: string, url: string): Promise<string> {
  const { port, pathname } = new URL(url);
  return await new Promise((resolve, reject) => {
    const options = { port, host: "127.0.0.1", path: `${pathname}config.json`, headers: { host } };
    const asked = request(options, (response) => {
      let body = "";
      response.on("data", (part: Buffer) => (body += part.toString()));
      response.on("end", () => resolve(`${response.statusCode} ${body}`));
    });
    asked.on("error", reject).end();
  });
}

test("a request under another name is refused: a site's name could be made to mean this address", async () => {
  const { url } = await start();
  const { host, port } = new URL(url);
  expect(await askAs(host, url)).toMatch(/^200/);
  for (const other of ["example.com", `example.com:${port}`, "127.0.0.1", `127.0.0.1.example.com`])
    expect([other, (await askAs(other, url)).slice(0, 3)]).toEqual([other, "403"]);
});

test("only requests for the page's files are answered", async () => {
  const { url } = await start();
  expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
    const response = await fetch(`${url}config.json`, { method });
    expect([method, response.status]).toEqual([method, 405]);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  }
});

test("a port that is taken, and a page that was not built, fail with the way out", async () => {
  const { url } = await start();
  const port = Number(new URL(url).port);
  await expect(serve(config, { port, folder })).rejects.toThrow(`Port ${port} is taken.`);
  const missing = path.join(folder, "assets");
  await expect(serve(config, { port: 0, folder: missing })).rejects.toThrow("npm run page");
});
