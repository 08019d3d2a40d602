/** Renders a part of the dashboard against a scripted backend. */
import { act, cleanup, configure, render } from "@testing-library/react";
import { ConvexProvider, type ConvexReactClient } from "convex/react";
import { anyApi } from "convex/server";
import type { ReactNode } from "react";
import { afterEach, beforeEach, vi } from "vitest";
import type { DashboardApi } from "../../shared/index.js";
import { TestBackend } from "./backend.js";

// Charts are slow in jsdom, and other processes compute beside these tests. Visibility by styles is not checked: jsdom has no
// styles here, and the check takes longer than the rest of a test.
configure({ asyncUtilTimeout: 10_000, defaultHidden: true });

export const api = anyApi["dashboard"] as unknown as DashboardApi;

/** A backend for each test, and stand-ins for the parts of a browser that jsdom lacks. */
export function withBackend() {
  const held: { backend: TestBackend; client?: ConvexReactClient } = { backend: new TestBackend() };
  beforeEach(() => {
    held.backend = new TestBackend();
    window.location.hash = "";
    standIn();
  });
  afterEach(async () => {
    cleanup();
    vi.restoreAllMocks();
    vi.useRealTimers();
    await held.client?.close();
  });
  const wrapped = (what: ReactNode) => (
    <ConvexProvider client={held.client!}>{what}</ConvexProvider>
  );
  return {
    get backend() {
      return held.backend;
    },
    wrapped,
    show: (what: ReactNode) => {
      held.client = held.backend.client();
      return render(wrapped(what));
    },
  };
}

/** jsdom lays nothing out, opens no dialogs and watches no sizes. */
function standIn(): void {
  // A box that scrolls is so high, and each row in it.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(50);
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  lend(HTMLElement.prototype, { scrollTo: () => undefined });
  lend(HTMLDialogElement.prototype, {
    showModal(this: HTMLDialogElement) {
      this.open = true;
      this.querySelector<HTMLElement>("input, button")?.focus();
    },
    close(this: HTMLDialogElement) {
      if (!this.open) return;
      this.open = false;
      // As a browser does: later.
      setTimeout(() => act(() => void this.dispatchEvent(new Event("close"))));
    },
  });
}

function lend(prototype: object, methods: object): void {
  for (const [name, method] of Object.entries(methods)) {
    if (!(name in prototype)) {
      Object.defineProperty(prototype, name, { value: method, configurable: true, writable: true });
    }
  }
}
