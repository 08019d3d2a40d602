/**
 * Pages of a query. A cursor is the key of the last row that was visited, so that the next page starts behind it after
 * any inserts and deletes in between, and is bound to its query.
 *
 * With an end cursor the page is all rows between the two, however many there are by now: that is how a subscription
 * keeps its pages from overlapping or leaving gaps.
 */
import { createHash } from "node:crypto";
import type { Limits } from "../limits.js";
import { LimitError } from "../limitErrors.js";
import { documentBytes } from "./documents.js";
import type { Key } from "./keys.js";
import { MAX_ROWS_PER_FETCH } from "./limits.js";
import { queryRows, type QueryJson } from "./query.js";
import type { Access, Doc, Namespace, Row, Transaction } from "./types.js";

export interface PageRequest {
  query: QueryJson;
  /** `null` for the first page. */
  cursor: string | null;
  endCursor?: string | null;
  pageSize: number;
  /** The bounds on rows and bytes read, filtered rows included, before the page ends early. */
  maximumRowsRead?: number | null;
  maximumBytesRead?: number | null;
}

export interface Page {
  page: Doc[];
  isDone: boolean;
  continueCursor: string;
  /** The middle of the page's reads, where a page that has grown may be cut in two; `null` when it is too short. */
  splitCursor: string | null;
  /** Required: it ended before it was full. Recommended: it has come near a limit. */
  pageStatus: "SplitRecommended" | "SplitRequired" | null;
}

/** Where a page ended: before the first row, after a row, or at the end of the range. */
type Position = { at: "start" } | { at: "row"; key: Key } | { at: "end" };

export async function queryPage(
  transaction: Transaction,
  namespace: Namespace,
  request: PageRequest,
  access: Access = {},
): Promise<Page> {
  const fingerprint = fingerprintOf(namespace, request.query);
  const from = readCursor(request.cursor, fingerprint);
  const to = request.endCursor == null ? null : readCursor(request.endCursor, fingerprint);
  const reading = new PageReading(from, request, to === null, transaction.global);
  const { page, reached } = await readPage(transaction, namespace, request, access, {
    reading,
    from,
    to,
  });
  const ended = to ?? reached;
  const { middle } = reading;
  return {
    page,
    isDone: ended.at === "end",
    continueCursor: writeCursor(ended, fingerprint),
    splitCursor: middle === null ? null : writeCursor({ at: "row", key: middle }, fingerprint),
    pageStatus: statusOf(page, reading, request, transaction.global),
  };
}

async function readPage(
  transaction: Transaction,
  namespace: Namespace,
  request: PageRequest,
  access: Access,
  { reading, from, to }: { reading: PageReading; from: Position; to: Position | null },
): Promise<{ page: Doc[]; reached: Position }> {
  const page: Doc[] = [];
  const pageSize = to === null ? request.pageSize : Infinity;
  if (from.at === "end" || to?.at === "start" || pageSize <= 0) return { page, reached: from };

  const window = {
    ...(from.at === "row" && { after: from.key }),
    ...(to?.at === "row" && { until: to.key }),
    expected: pageSize,
    perFetch: Math.max(1, Math.min(request.pageSize, MAX_ROWS_PER_FETCH)),
  };
  const rows = queryRows(transaction, namespace, request.query, access, window, (row) =>
    reading.add(row),
  );
  try {
    for await (const row of rows) {
      page.push(row.doc);
      if (page.length >= pageSize) return { page, reached: reading.position };
    }
  } catch (error) {
    // As on the platform, a page that a transaction's limit cuts short is a page, as long as there is anything before it.
    if (!(error instanceof LimitError) || reading.position.at !== "row") throw error;
    reading.cutShort = true;
    return { page, reached: reading.position };
  }
  return { page, reached: reading.isEnough ? reading.position : { at: "end" } };
}

function statusOf(
  page: Doc[],
  reading: PageReading,
  { pageSize }: PageRequest,
  { arrayLength }: Readonly<Limits>,
): Page["pageStatus"] {
  if (reading.cutShort) return "SplitRequired";
  if (reading.isEnough && page.length < pageSize) return "SplitRequired";
  return reading.isNearLimit || page.length > soft(arrayLength) ? "SplitRecommended" : null;
}

/** From three quarters of a limit on, the platform recommends to split (query/index_range.rs, `soft_data_limit`). */
function soft(limit: number): number {
  return Math.floor((limit * 3) / 4);
}

type PageLimits = Pick<PageRequest, "maximumRowsRead" | "maximumBytesRead">;

/** How far a page has read, and whether that is as much as it may. */
class PageReading {
  /** A limit of the whole transaction ended it. */
  cutShort = false;
  readonly #keys: Key[] = [];
  #bytes = 0;

  constructor(
    public position: Position,
    private readonly limits: PageLimits,
    /** With an end cursor, all that lies before it belongs to the page. */
    private readonly mayEndEarly: boolean,
    private readonly global: Readonly<Limits>,
  ) {}

  add(row: Row): boolean {
    this.position = { at: "row", key: row.key };
    this.#keys.push(row.key);
    this.#bytes += documentBytes(row.doc);
    return this.isEnough;
  }

  get isNearLimit(): boolean {
    const { documentsRead, bytesRead } = this.global;
    const { maximumRowsRead, maximumBytesRead } = this.limits;
    return (
      this.#keys.length > soft(Math.min(maximumRowsRead ?? documentsRead, documentsRead)) ||
      this.#bytes > soft(Math.min(maximumBytesRead ?? bytesRead, bytesRead))
    );
  }

  /** Of the rows read, filtered ones included. */
  get middle(): Key | null {
    return this.#keys.length <= 2 ? null : this.#keys[Math.floor(this.#keys.length / 2)]!;
  }

  get isEnough(): boolean {
    if (!this.mayEndEarly) return false;
    return (
      this.#keys.length >= (this.limits.maximumRowsRead ?? Infinity) ||
      this.#bytes >= (this.limits.maximumBytesRead ?? Infinity)
    );
  }
}

function fingerprintOf(namespace: Namespace, query: QueryJson): string {
  return createHash("sha256")
    .update(JSON.stringify([namespace, query]))
    .digest("base64url")
    .slice(0, 16);
}

function writeCursor(position: Position, fingerprint: string): string {
  const key =
    position.at === "row" ? Buffer.from(position.key, "latin1").toString("base64url") : "";
  return [position.at, key, fingerprint].join(".");
}

function readCursor(cursor: string | null, fingerprint: string): Position {
  if (cursor === null) return { at: "start" };
  // An app passes on its client's cursor unchecked.
  const [at, key = "", ofQuery] = String(cursor).split(".");
  if (ofQuery !== fingerprint || (at !== "start" && at !== "row" && at !== "end")) {
    throw new Error(
      `InvalidCursor: Tried to run a query starting from a cursor, but it looks like this query has changed. ` +
        `Got ${JSON.stringify(cursor)}. Start again from a null cursor.`,
    );
  }
  return at === "row" ? { at, key: Buffer.from(key, "base64url").toString("latin1") } : { at };
}
