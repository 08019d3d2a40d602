/**
 * The contents of jobs, on their way to a page: all of them pass the app's `show` before they leave the server. A job's
 * name, key, group and tags are shown as they are.
 */
import type { AttemptStatus, OutputPage, JobStatus, ListedJob, LogEntry } from "../shared/index.js";
import type { DashboardValue } from "./dashboardTypes.js";
import type { GivenOptions } from "./dashboardLeave.js";
import type { AuthorizeCtx } from "./types.js";

/** Shows the contents of one job. If `show` throws, so does this: nothing leaves unseen. */
export class Shown {
  constructor(
    private readonly options: GivenOptions,
    private readonly ctx: AuthorizeCtx<any>,
    private readonly job: { queue: string; id: string },
  ) {}

  async value(kind: DashboardValue["kind"], value: unknown): Promise<unknown> {
    const { options, ctx, job } = this;
    if (options?.show === undefined) return value;
    const { queue, id } = job;
    return (await options.show(ctx, { queue, id, kind, value })) ?? null;
  }

  /** For values that pages take for text. */
  async text(kind: "error" | "output", text: string): Promise<string> {
    return asText(await this.value(kind, text));
  }

  async status(status: JobStatus): Promise<JobStatus> {
    const shown = { ...status };
    if (shown.lastError !== undefined) shown.lastError = await this.text("error", shown.lastError);
    switch (shown.status) {
      case "running":
        if (shown.progress !== undefined)
          shown.progress = await this.value("progress", shown.progress);
        break;
      case "succeeded":
        shown.result = await this.value("result", shown.result);
        break;
      case "failed":
      case "timedOut":
        shown.error = await this.text("error", shown.error);
        break;
      case "canceled":
        // `onComplete` receives it as the job's error.
        if (shown.reason !== undefined) shown.reason = await this.text("error", shown.reason);
    }
    return shown;
  }

  async listed(job: ListedJob): Promise<ListedJob> {
    return job.error === undefined ? job : { ...job, error: await this.text("error", job.error) };
  }

  async attempt(attempt: AttemptStatus): Promise<AttemptStatus> {
    const shown = { ...attempt };
    if ("error" in shown && shown.error !== undefined) {
      shown.error = await this.text("error", shown.error);
    }
    if ("trace" in shown && shown.trace !== undefined) {
      shown.trace = await this.text("error", shown.trace);
    }
    return shown;
  }

  /** `show` is given the message and the data. Another object with a message takes their place; any text is the message. */
  async entry({ message, data, ...about }: LogEntry): Promise<LogEntry> {
    const given = { message, ...(data === undefined ? {} : { data }) };
    const shown = await this.value("log", given);
    if (typeof shown !== "object" || shown === null) return { ...about, message: asText(shown) };
    const parts = shown as { message?: unknown; data?: unknown };
    return {
      ...about,
      message: typeof parts.message === "string" ? parts.message : "",
      ...(parts.data === undefined ? {} : { data: parts.data }),
    };
  }

  async part({ index, text }: OutputPage["parts"][number]): Promise<OutputPage["parts"][number]> {
    return { index, text: await this.text("output", text) };
  }
}

function asText(shown: unknown): string {
  if (typeof shown === "string") return shown;
  if (shown === null) return "";
  const plain = (_key: string, part: unknown) =>
    typeof part === "bigint" ? part.toString() : part;
  return JSON.stringify(shown, plain) ?? "";
}

/** One after the other: an app's `show` may read its tables. */
export async function each<Item, Result>(
  items: readonly Item[],
  show: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const shown: Result[] = [];
  for (const item of items) shown.push(await show(item));
  return shown;
}
