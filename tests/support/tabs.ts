/** Chromium tabs whose page is a worker of the test app's `sums`, as an app would write it. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { launch } from "./chromium.js";
import { root } from "./paths.js";

/** The page's program. A job waits at its first attempt as long as its payload says, as in `worker.ts`. */
const PAGE = `
  import { Worker } from "convex-conveyor/worker";
  import { anyApi } from "convex/server";
  window.serve = (options) => {
    const worker = new Worker({
      api: anyApi.work,
      concurrency: 3,
      ...options,
      handlers: {
        sums: async ({ payload: { n, workMs }, attempt }) => {
          if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, workMs));
          return { square: n * n };
        },
      },
    });
    window.worker = worker;
    void worker.run();
    return worker.name;
  };
`;

/** What a page's worker is told. Without a name it gives itself one. */
export interface TabOptions {
  url: string;
  token: string;
  name?: string;
  concurrency?: number;
}

export interface Tab {
  page: Page;
  name: string;
  /** Without a word, as a crash would be: what the worker holds is lost with it. */
  crash: () => Promise<void>;
}

export class Tabs {
  private constructor(
    readonly browser: Browser,
    readonly server: Server,
  ) {}

  static async start(): Promise<Tabs> {
    const { outputFiles } = await build({
      stdin: { contents: PAGE, resolveDir: path.join(root, "tests/support/app") },
      ...{ bundle: true, write: false, format: "iife", platform: "browser", logLevel: "silent" },
    });
    const script = outputFiles[0]!.text.replaceAll("</script", "<\\/script");
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<!doctype html><title>Worker</title><script>${script}</script>`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Tabs(await launch(), server);
  }

  async open(options: TabOptions): Promise<Tab> {
    const page = await this.browser.newPage();
    await page.goto(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`);
    const name = await page.evaluate<string>(`window.serve(${JSON.stringify(options)})`);
    return { page, name, crash: () => page.close({ runBeforeUnload: false }) };
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.close();
  }
}
