/** The deployment's answers, and the messages for them; against a real one, see the end-to-end tests. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { probe } from "./probe.js";

let server: Server | undefined;
afterEach(() => void server?.close());

/** A deployment that answers every call so. Returns its address, and the calls that it received. */
async function deployment(status: number, body: object) {
  const calls: { authorization: string | undefined; body: unknown }[] = [];
  server = createServer((request, response) => {
    let sent = "";
    request.on("data", (part: Buffer) => (sent += part.toString()));
    request.on("end", () => {
      calls.push({ authorization: request.headers.authorization, body: JSON.parse(sent) });
      response.writeHead(status, { "content-type": "application/json", connection: "close" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

const told = async (answer: Promise<void>): Promise<string> =>
  await answer.then(
    () => "all is well",
    (error: Error) => error.message,
  );
const threw = (errorMessage: string, errorData?: unknown) => ({
  ...{ status: "error", errorMessage, logLines: [] },
  ...(errorData === undefined ? {} : { errorData }),
});
const FAILED = 560;

test("a deployment that answers is asked once, as the caller that was named", async () => {
  const { url, calls } = await deployment(200, { status: "success", value: { queues: [] } });
  await probe({ url, module: "admin/queues", port: 0, token: "jwt" });
  expect(calls).toMatchObject([
    {
      authorization: "Bearer jwt",
      body: { path: "admin/queues:read", args: [{ call: { kind: "overview" } }] },
    },
  ]);
  const identity = { subject: "änn" };
  await probe({ url, module: "dashboard", port: 0, adminKey: "key", identity });
  const [, encoded] = calls[1]!.authorization!.split(":");
  expect(calls[1]!.authorization).toMatch(/^Convex key:/);
  expect(JSON.parse(Buffer.from(encoded!, "base64").toString())).toEqual(identity);
});

test("no answer at the address", async () => {
  const { url } = await deployment(200, {});
  await new Promise((resolve) => server!.close(resolve));
  const message = await told(probe({ url, module: "dashboard", port: 0 }));
  expect(message).toContain(`Nothing answers at ${url} (ECONNREFUSED).`);
});

test.each([
  [threw("Could not find public function for 'dashboard:read'."), "has no public function"],
  [threw("no", { code: "forbidden", message: "You may not see the overview." }), "--token"],
  [threw("no", { code: "componentNotMounted", message: "Mount it." }), "Mount it."],
  [threw("no", "Sign in first."), 'The app\'s `authorize` refused: "Sign in first.". Give --token'],
  [threw("Server Error"), '"dashboard:read" of http'],
])("%j gives a message with the way out", async (body, expected) => {
  const { url } = await deployment(FAILED, body);
  expect(await told(probe({ url, module: "dashboard", port: 0 }))).toContain(expected);
});

test("a credential that is refused", async () => {
  const { url } = await deployment(401, { code: "InvalidAuthHeader", message: "Could not parse" });
  expect(await told(probe({ url, module: "dashboard", port: 0, token: "x" }))).toContain(
    "does not accept this --token",
  );
  server!.close();
  const other = await deployment(403, { code: "BadAdminKey", message: "The key is invalid" });
  const options = { url: other.url, module: "dashboard", port: 0, adminKey: "x" };
  expect(await told(probe(options))).toContain("does not accept this --admin-key");
});
