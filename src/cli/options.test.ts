import { expect, test } from "vitest";
import { readDashboardOptions } from "./options.js";

const url = "https://happy-animal-123.convex.cloud";

test("without more than a deployment: the module `dashboard`, and any free port", () => {
  expect(readDashboardOptions(["--url", url], {})).toEqual({ url, module: "dashboard", port: 0 });
});

test("flags win over the environment", () => {
  const environment = { CONVEX_URL: "http://127.0.0.1:3210/", CONVEYOR_DASHBOARD_TOKEN: "old" };
  expect(readDashboardOptions([], environment)).toMatchObject({
    url: "http://127.0.0.1:3210",
    token: "old",
  });
  const flags = ["--url", url, "--token", "new", "--module", "admin/queues", "--port", "4000"];
  expect(readDashboardOptions(flags, environment)).toEqual({
    ...{ url, token: "new", module: "admin/queues", port: 4_000 },
  });
});

test("a variable of no characters counts as none", () => {
  const environment = { CONVEX_URL: "", CONVEX_SELF_HOSTED_URL: url };
  expect(readDashboardOptions([], environment)).toMatchObject({ url });
});

test("an administrator may act as a user", () => {
  const identity = { issuer: "https://example.com", subject: "ann", role: "admin" };
  const flags = ["--admin-key", "key", "--identity", JSON.stringify(identity)];
  expect(readDashboardOptions(flags, { CONVEX_SELF_HOSTED_URL: url })).toMatchObject({
    ...{ url, adminKey: "key", identity },
  });
});

test("a credential that is a flag is the only one, whichever the environment has", () => {
  const names = { CONVEYOR_DASHBOARD_TOKEN: "old", CONVEYOR_DASHBOARD_ADMIN_KEY: "old" };
  const read = (...flags: string[]) => readDashboardOptions(["--url", url, ...flags], names);
  expect(read("--admin-key", "key")).toEqual({
    url,
    module: "dashboard",
    port: 0,
    adminKey: "key",
  });
  expect(read("--token", "jwt")).toEqual({ url, module: "dashboard", port: 0, token: "jwt" });
  expect(() => read()).toThrow("not both");
});

test("help needs nothing else", () => {
  expect(readDashboardOptions(["--help"], {})).toBeNull();
});

test.each([
  [[], "Which deployment?"],
  [["--url", "happy-animal-123"], "must be an address with https:// or http://"],
  [["--url", "ftp://example.com"], "must be an address with https:// or http://"],
  [["--url", "https://happy-animal-123.convex.site"], "is where HTTP actions are"],
  [["--url", url, "--module", "dashboard.ts"], 'as in "dashboard" or "admin/queues"'],
  [["--url", url, "--module", "../secrets"], "--module must be a path under convex/"],
  [["--url", url, "--port", "http"], "--port must be a whole number from 0 to 65535; got http"],
  [["--url", url, "--port", ""], "--port must be a whole number"],
  [["--url", url, "--port", "65536"], "--port must be a whole number"],
  [["--url", url, "--token", "a", "--admin-key", "b"], "not both"],
  [["--url", url, "--identity", "{}"], "--identity needs --admin-key"],
  [["--url", url, "--admin-key", "b", "--identity", "ann"], "must be a JSON object"],
  [["--url", url, "--admin-key", "b", "--identity", "null"], "must be a JSON object"],
  [["--url", url, "--admin-key", "b", "--identity", '{"subject": "ann"}'], "with both, as in"],
  [["--url", url, "--colour"], "'--colour'\nOptions: npx convex-conveyor dashboard --help"],
])("%j is answered with the rule", (args, message) => {
  expect(() => readDashboardOptions(args, {})).toThrow(message);
});
