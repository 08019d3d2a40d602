import { expect, test } from "vitest";
import { readOptions } from "./options.js";

const environment = { CONVEX_URL: "http://127.0.0.1:1", CONVEYOR_TOKEN: "cvy_from_environment" };

test("flags win over the environment, so one shell can start workers of several names", () => {
  expect(readOptions(["--token", "cvy_flag", "--name", "ada"], environment)).toEqual({
    url: "http://127.0.0.1:1",
    token: "cvy_flag",
    name: "ada",
    concurrency: 2,
  });
});

test.each([
  ["no deployment", [], { CONVEYOR_TOKEN: "t" }, "--url"],
  ["no token", [], { CONVEX_URL: "http://127.0.0.1:1" }, "workers:create"],
  ["no concurrency", ["--concurrency", "0"], environment, "from 1 to 16; got 0"],
  ["a concurrency that is no number", ["--concurrency", "many"], environment, "got many"],
])(
  "with %s a worker names the missing option instead of failing later",
  (_what, args, env, message) => {
    expect(() => readOptions(args, env)).toThrow(message);
  },
);

test("help needs nothing else", () => {
  expect(readOptions(["--help"], {})).toBeNull();
});
