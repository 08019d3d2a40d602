/** What a page shows when its test fails: a locator's own error says only what it looked for. */
import type { Page } from "playwright-core";
import { onTestFailed } from "vitest";

const SHOWN_CHARACTERS = 1_000;

/**
 * Adds to the errors of the running test, if it fails: the page's address and text at that time, and the page's errors and
 * connections until then. Of a page that the test has closed only the latter.
 */
export function describeOnFailure(page: Page): void {
  const events: string[] = [];
  let lastMessage = "none";
  page.on("pageerror", ({ message }) => events.push(`error: ${message}`));
  page.on("console", (entry) => {
    if (entry.type() === "error") events.push(`console: ${entry.text()}`);
  });
  page.on("requestfailed", (request) => events.push(`request failed: ${request.url()}`));
  page.on("websocket", (socket) => {
    events.push(`connected to ${socket.url()}`);
    socket.on("framereceived", ({ payload }) => (lastMessage = String(payload)));
    socket.on("close", () => events.push("disconnected"));
  });
  onTestFailed(async ({ task }) => {
    const text = page.isClosed()
      ? "It is closed."
      : await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
    const told = [
      `The page at ${page.url()}:`,
      ...[text, ...events, `last message: ${lastMessage}`].map((part) => cut(part)),
    ].join("\n");
    for (const error of task.result?.errors ?? []) {
      error.message += `\n${told}`;
      error.stack = `${told}\n${error.stack ?? ""}`;
    }
  });
}

function cut(text: string): string {
  const line = text.replace(/\s*\n\s*/g, " | ");
  return line.length <= SHOWN_CHARACTERS ? line : `${line.slice(0, SHOWN_CHARACTERS)} …`;
}
