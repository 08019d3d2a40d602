/**
 * One stream after another, as one: a list of jobs that lie in several parts of an index, or in several statuses. Each part
 * has a number of its own, which rises along the list; a cursor is that number with the key within the part. So a part that
 * comes or goes between two pages (a priority that is used for the first time) moves no other.
 *
 * Reads as its parts do, one after the other: rows beyond the page are not read. Built on the streams of
 * `convex-helpers`, since a component's queries cannot `.paginate()`.
 */
import { QueryStream, type IndexBounds, type IndexKey } from "convex-helpers/server/stream";
import { jsonToConvex, type Value } from "convex/values";
import { conveyorError } from "../../shared/index.js";

/**
 * One part and the fields of its keys; the parts' numbers ascend along the list, in whichever direction the parts are
 * read.
 */
export interface Section<T extends NonNullable<unknown>> {
  rank: number;
  fields: readonly string[];
  stream: QueryStream<T>;
  /** From which number to which it has other parts' rows, in an order of its own: behind a cursor in one of those they would not go on. */
  insteadOf?: readonly [number, number];
}

type Item<T> = [T | null, IndexKey, number];

export class Sections<T extends NonNullable<unknown>> extends QueryStream<T> {
  constructor(private readonly streams: readonly Section<T>[]) {
    super();
  }

  iterWithKeys(countsBytes = false): AsyncIterable<Item<T>, undefined> {
    return follow(this.streams, countsBytes);
  }

  narrow({ lowerBound: from, upperBound: to, ...inclusive }: IndexBounds): QueryStream<T> {
    return new Sections(
      this.streams.flatMap((section) => {
        const { rank, stream } = section;
        const [first = -Infinity, ...after] = from as [number, ...IndexKey];
        const [last = Infinity, ...upTo] = to as [number, ...IndexKey];
        if (rank < first || rank > last) return [];
        const begin = rank === first ? after : [];
        const end = rank === last ? upTo : [];
        // A bound that is not this part's own shuts out nothing of it.
        const isBegun = rank === first ? inclusive.lowerBoundInclusive : true;
        const isEnded = rank === last ? inclusive.upperBoundInclusive : true;
        const bounds: IndexBounds =
          stream.getOrder() === "asc"
            ? bound(begin, isBegun, end, isEnded)
            : bound(end, isEnded, begin, isBegun);
        return [{ ...section, stream: stream.narrow(bounds) }];
      }),
    );
  }

  /** Of the numbers. Within a part keys may fall. */
  getOrder(): "asc" {
    return "asc";
  }

  getIndexFields(): string[] {
    return ["rank"];
  }

  getEqualityIndexFilter(): Value[] {
    return [];
  }
}

async function* follow<T extends NonNullable<unknown>>(
  streams: readonly Section<T>[],
  countsBytes: boolean,
): AsyncGenerator<Item<T>, undefined> {
  for (const { rank, stream } of streams) {
    for await (const [item, key, bytes] of stream.iterWithKeys(countsBytes)) {
      yield [item, [rank, ...key], bytes];
    }
  }
  return undefined;
}

function bound(
  lowerBound: IndexKey,
  lowerBoundInclusive: boolean,
  upperBound: IndexKey,
  upperBoundInclusive: boolean,
): IndexBounds {
  return { lowerBound, lowerBoundInclusive, upperBound, upperBoundInclusive };
}

/** The cursor behind the last row: nothing comes after it, and a page that ends there has no end. */
export const END_CURSOR = "[]";

/** Types of a key's fields; every other field is a number. */
const KINDS: Record<string, string> = { seq: "bigint", _id: "string" };

/**
 * Refuses a cursor that no page of such a list has returned. The message carries the word by which the hooks of
 * `convex/react` and `convex-helpers/react` recognize that they must start over.
 */
export function checkCursor(
  streams: readonly Section<NonNullable<unknown>>[],
  cursor: string,
): void {
  if (cursor === END_CURSOR) return;
  const [rank, ...key] = keyOf(cursor);
  const section = streams.find((one) => one.rank === rank);
  const fields = section?.fields ?? [];
  const fits = fields.every((field, i) => typeof key[i] === (KINDS[field] ?? "number"));
  const isElsewhere = ({ insteadOf: [from, to] = [Infinity, 0] }: (typeof streams)[number]) =>
    section === undefined && typeof rank === "number" && from <= rank && rank <= to;
  if (streams.some(isElsewhere)) throw notOurs();
  // A part that no longer exists is skipped: the list continues behind it.
  if (typeof rank === "number" && (section === undefined || (fits && key.length === fields.length)))
    return;
  throw notOurs();
}

/**
 * A cursor that a page may see: behind a row that the filter passed over and the page did not show, it does not carry
 * that row's id. A place just behind the row, made of the id's beginning, does as well; the page may not learn the ids
 * of hidden jobs.
 */
export function veiled(
  streams: readonly Section<NonNullable<unknown>>[],
  cursor: string,
  shown: readonly string[],
): string {
  if (cursor === END_CURSOR) return cursor;
  const key = JSON.parse(cursor) as unknown[];
  const [rank, id] = [key[0], key.at(-1)];
  if (typeof id !== "string" || shown.includes(id)) return cursor;
  const isRising = streams.find((one) => one.rank === rank)?.stream.getOrder() === "asc";
  return JSON.stringify([...key.slice(0, -1), id.slice(0, ID_SHOWN) + (isRising ? "~" : "")]);
}

/**
 * Of an id's 32 characters: enough to distinguish rows that were written in one instant, and too few to guess other
 * ids.
 */
const ID_SHOWN = 12;

function keyOf(cursor: string): Value[] {
  try {
    const key = jsonToConvex(JSON.parse(cursor) as never);
    if (Array.isArray(key)) return key;
  } catch {
    throw notOurs();
  }
  throw notOurs();
}

function notOurs(): Error {
  return conveyorError(
    "invalidArgument",
    "InvalidCursor: this is no cursor that a page of this list returned. Pass the last page's `continueCursor` unchanged " +
      "and with the same filter and order, or null to begin.",
    { argument: "cursor" },
  );
}
