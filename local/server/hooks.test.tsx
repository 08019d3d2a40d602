// @vitest-environment jsdom
/** The official React hooks in a page, on the local backend with the fixture app pushed to it. */
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import { ConvexProvider, ConvexReactClient, useAction, useMutation, useQuery } from "convex/react";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startBackend, type Backend } from "../backend.js";
import { api } from "../push/fixtures/app/convex/_generated/api.js";
import { pushFixture } from "../push/testing.js";

let backend: Backend;
let client: ConvexReactClient;

beforeAll(async () => {
  backend = await startBackend({ quiet: true });
  await pushFixture(backend);
  client = new ConvexReactClient(backend.url, {
    webSocketConstructor: WebSocket as unknown as typeof globalThis.WebSocket,
    unsavedChangesWarning: false,
    logger: false,
  });
});
afterEach(cleanup);
afterAll(async () => {
  await client.close();
  await backend.close();
});

/** Every list of ids that was shown, in order; "loading" before the first. */
let shown: string[] = [];
let send: () => Promise<unknown>;
let sendLater: () => Promise<unknown>;

function Page() {
  const args = { author: "page" };
  const messages = useQuery(api.messages.list, args);
  const mutate = useMutation(api.messages.send).withOptimisticUpdate((store, { author, body }) => {
    const placeholder = { _id: "not yet", _creationTime: 0, author, body };
    const now = store.getQuery(api.messages.list, args) ?? [];
    store.setQuery(api.messages.list, args, [...now, placeholder as never]);
  });
  const later = useAction(api.messages.sendLater);
  send = () => mutate({ author: "page", body: "by the mutation" });
  sendLater = () => later({ author: "page", body: "by the action" });
  const ids = messages?.map(({ _id }) => (_id === ("not yet" as string) ? "placeholder" : "row"));
  const text = ids?.join() ?? "loading";
  if (shown.at(-1) !== text) shown.push(text);
  return (
    <ul>
      {messages?.map(({ _id, body }) => (
        <li key={_id}>{body}</li>
      ))}
    </ul>
  );
}

test("a page reads, writes optimistically and calls an action, and shows the results", async () => {
  shown = [];
  render(
    <ConvexProvider client={client}>
      <Page />
    </ConvexProvider>,
  );
  await waitFor(() => expect(shown.at(-1)).toBe(""), { timeout: 20_000 });
  // Not awaited inside: the state before the answer would be skipped.
  let sent: Promise<unknown>;
  act(() => void (sent = send()));
  expect(shown.at(-1)).toBe("placeholder");
  await act(() => sent);
  await screen.findByText("by the mutation", {}, { timeout: 20_000 });
  await waitFor(() => expect(shown.at(-1)).toBe("row"), { timeout: 20_000 });
  expect(shown).toEqual(["loading", "", "placeholder", "row"]);
  let answer: unknown;
  await act(async () => (answer = await sendLater()));
  expect(answer).toBe(2);
  await screen.findByText("by the action", {}, { timeout: 20_000 });
});
