/** An editor's completions, exactly: the words of the documents, and nothing that is internal. */
import path from "node:path";
import ts from "typescript";
import { beforeAll, expect, test, vi } from "vitest";
import { linkPackage } from "../support/link.js";

const app = path.join(import.meta.dirname, "app");
const probe = path.join(app, "convex/probe.ts");
const CODE = `
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { mutation } from "./_generated/server";
import { conveyor } from "./conveyor";
import { emails } from "./emails";
import { renders } from "./renders";
import { api } from "./_generated/api";
import { useJob, type JobId } from "convex-conveyor/react";
conveyor.api({ queues: [emails, renders], authorize: (_ctx, call) => call.kind === "list" && call./*call*/ });
conveyor.api({ queues: [emails, renders], authorize: "public", enqueue: { emails: true } });
const { /*pages*/ } = emails.api({ authorize: "public" });
useJob(api.jobs, "" as JobId<"renders">, { /*requests*/ });
conveyor.queue("probed", { /*queue*/ });
conveyor.queue("probed", { action: () => internal.emails.send, retry: { /*retry*/ } });
emails.action(async (_ctx, job) => { job./*action*/; });
emails.inline(async (_ctx, job) => { job./*inline*/; });
emails.mutation(async (_ctx, job) => { job./*mutation*/; });
emails.query(async (_ctx, job) => { job./*query*/; });
emails.completed(async (_ctx, told) => { told./*completed*/; });
emails./*queueItself*/;
export const enqueue = mutation({
  args: {},
  handler: async (ctx) => { await emails.enqueue(ctx, { to: "a", body: "b" }, { /*enqueue*/ }); },
});
`;

let service: ts.LanguageService;

// The first answer checks the whole program.
vi.setConfig({ testTimeout: 120_000 });

beforeAll(() => {
  linkPackage(app);
  const configPath = path.join(app, "tsconfig.json");
  const { config } = ts.readConfigFile(configPath, (file) => ts.sys.readFile(file)) as {
    config: unknown;
  };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, app);
  const names = [...fileNames.filter((name) => !name.endsWith("misfits.ts")), probe];
  service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getScriptFileNames: () => names,
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const text = file === probe ? CODE : ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => app,
    getDefaultLibFileName: (of) => ts.getDefaultLibFilePath(of),
  });
});

/** The names that are offered at a mark of the probe, by the alphabet. */
function offered(mark: string): string[] {
  const at = CODE.indexOf(`/*${mark}*/`);
  const entries = service.getCompletionsAtPosition(probe, at, {})?.entries ?? [];
  return entries.map(({ name }) => name).sort();
}

const sorted = (names: string) => [...new Set(names.split(" "))].sort();

const FACTS =
  "attempt cost enqueuedAt failures group id idempotencyKey labels name payload priority queue resets";
const QUERY = `${FACTS} claimableAt rounds snooze tags timeoutMs traceparent`;
const MUTATION = `${QUERY} continueWith log`;
const ACTION = `${MUTATION} isCanceled progress signal write`;
const NAMED = "action inline mutation onComplete query";
const SHARED = "context deadlineMs expiresAfterMs leaseMs maxResets onComplete retry timeoutMs";

test.each([
  ["action", ACTION],
  ["inline", ACTION],
  ["mutation", MUTATION],
  ["query", QUERY],
])(
  "a handler that is an %s has the possible fields of its job, and nothing else",
  (kind, names) => {
    expect(offered(kind)).toEqual(sorted(names));
  },
);

test("a callback has the fields of its job, and nothing else", () => {
  expect(offered("completed")).toEqual(
    sorted("attempt context id name outcome payload queue worker"),
  );
});

test("a queue's definition offers its options, and nothing else", () => {
  const own =
    "batch circular fallbackAfterMs graceMs handlerMissingAfterMs listBy logLevel maxParallelism " +
    "onCompleteExclude payload perJob progress restMs result retention shards";
  expect(offered("queue")).toEqual(sorted(`${NAMED} ${SHARED} ${own}`));
  expect(offered("retry")).toEqual(sorted("base initialBackoffMs jitter maxAttempts maxBackoffMs"));
});

test("an enqueue offers its options, and nothing else", () => {
  const own =
    "cost group handler key labels name onCompleteExclude prefer priority runAfter runAt tags traceparent";
  expect(offered("enqueue")).toEqual(sorted(`${SHARED} ${own}`));
});

test("pages have eight functions; `authorize`, `enqueue` and a job's hook offer their fields", () => {
  expect(offered("pages")).toEqual(sorted("cancel enqueue list logs output retry stats status"));
  expect(offered("call")).toEqual(sorted("filter kind queue"));
  expect(offered("requests")).toEqual(sorted("attempts options why"));
});

test("a queue offers its methods, and nothing that is for the package itself", () => {
  const internal = ["newJob", "declaration", "builders", "component", "making", "config"];
  expect(offered("queueItself").filter((name) => internal.includes(name))).toEqual([]);
  expect(offered("queueItself")).toEqual(
    expect.arrayContaining(["enqueue", "action", "completed"]),
  );
});

test("nothing that is offered is a brand or begins with _", () => {
  const marks = ["queue", "retry", "action", "mutation", "query", "completed", "enqueue"];
  const all = [...marks, "queueItself"].flatMap(offered);
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter((name) => !/^[a-z][A-Za-z]*$/.test(name))).toEqual([]);
});
