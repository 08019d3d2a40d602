/** Browsers at the dashboard of a stage, through the page that `npx convex-conveyor dashboard` serves. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, Page, WebSocketRoute } from "playwright-core";
import { launch } from "../support/chromium.js";
import { buildPage, pageIsStale, SITE } from "../../scripts/support/page.js";
import { serve, type Served } from "../../src/cli/serve.js";
import type { Stage } from "./stage.js";

/** A laptop's window and a phone's. */
export const SIZES = {
  laptop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;
export type Size = keyof typeof SIZES;

export interface Looks {
  /** A browser of its own, at a path of the dashboard such as `/queues/mails`. */
  open(path: string, options?: { size?: Size; dark?: boolean; line?: Line }): Promise<Page>;
  close(): Promise<void>;
}

/** `onPage` is called with each page before it is opened. */
export async function startLooks(
  stage: Stage,
  onPage: (page: Page) => void = () => {},
): Promise<Looks> {
  if (pageIsStale()) await buildPage();
  const served: Served = await serve(
    { url: stage.backend.url, module: "dashboard" },
    { port: 0, folder: SITE },
  );
  const browser: Browser = await launch();
  const contexts: BrowserContext[] = [];
  return {
    open: async (path, { size = "laptop", dark = false, line } = {}) => {
      const context = await browser.newContext({
        viewport: SIZES[size],
        colorScheme: dark ? "dark" : "light",
        reducedMotion: "reduce",
      });
      contexts.push(context);
      const page = await context.newPage();
      onPage(page);
      await line?.lay(page);
      await page.goto(`${served.url}#${path}`);
      return page;
    },
    close: async () => {
      await Promise.all(contexts.map((context) => context.close()));
      await browser.close();
      await served.close();
    },
  };
}

/** The connection between a page and its deployment, which can be cut. */
export class Line {
  #isCut = false;
  readonly #open = new Set<WebSocketRoute>();

  /** Before the page is opened. */
  async lay(page: Page): Promise<void> {
    await page.routeWebSocket(/\/sync$/, (socket) => {
      if (this.#isCut) return void socket.close();
      this.#open.add(socket);
      socket.connectToServer();
    });
  }

  async cut(): Promise<void> {
    this.#isCut = true;
    await Promise.all([...this.#open].map((socket) => socket.close({ code: 1001 })));
    this.#open.clear();
  }

  mend(): void {
    this.#isCut = false;
  }
}

/** The violations that axe finds on a page as it is, in words; empty where all is well. */
export async function violations(page: Page): Promise<string[]> {
  const found = await new AxeBuilder({ page }).analyze();
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help} (${String(target)}) ${failureSummary}`,
    ),
  );
}

/** By how much a page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
}
