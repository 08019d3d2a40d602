/** A definition that names a function which the deployment does not have. */
import { anyApi } from "convex/server";
import { afterEach, expect, test, vi } from "vitest";
import { isConveyorError, type ConveyorErrorData } from "../shared/index.js";
import { callbackOf, handlerNamed } from "./handlerOptions.js";

const internal: any = anyApi;
const MISSING =
  "Could not find function for 'mails:absent'. Did you forget to run `npx convex dev` or `npx convex deploy`?\n\n" +
  "Available functions:\n• mails:send";
afterEach(() => void vi.unstubAllGlobals());

/** The platform's answer to each handle that is asked for. */
const platformSays = (message: string) =>
  vi.stubGlobal("Convex", { asyncSyscall: () => Promise.reject(new Error(message)) });

async function refusal(call: Promise<unknown>): Promise<ConveyorErrorData> {
  const thrown = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (!isConveyorError(thrown)) throw thrown;
  return thrown.data;
}

test("a handler or an onComplete that no module exports is refused with its queue, its option and its name", async () => {
  platformSays(MISSING);
  const named = { kind: "action", name: () => internal.mails.absent } as const;
  expect(await refusal(handlerNamed("mails", named))).toEqual({
    code: "handlerMissing",
    message:
      '`action` of the queue "mails" names mails:absent, and the deployment has no such function. Export it from its module, ' +
      "or correct the queue's definition, and deploy again.",
    ...{ queue: "mails", argument: "action", got: "mails:absent" },
  });
  expect(await refusal(callbackOf("mails", named.name))).toMatchObject({ argument: "onComplete" });
});

test("any other error of the platform passes as it is", async () => {
  platformSays("Too many reads.");
  await expect(callbackOf("mails", () => internal.mails.absent)).rejects.toThrow("Too many reads.");
});
