/**
 * The finished mutations of clients' sessions, with their results: rows written in the mutation's own commit, so that a
 * client that sends one again, because the answer or the whole backend was lost, gets the first answer.
 */
import type { JSONValue } from "convex/values";
import { jsonToConvex } from "convex/values";
import type { Doc, IndexRange, TableSpec, Transaction, Ts } from "../engine/types.js";
import {
  RETENTION_BATCH,
  RETENTION_SWEEP_MS,
  SESSION_REQUEST_PART_CHARS,
  SESSION_REQUEST_RETENTION_MS,
} from "./limits.js";
import { ACTION_WRITE, transact } from "./retrying.js";
import type { Services } from "./scope.js";
import type { FunctionResult, SessionRequest } from "./types.js";

const TABLE = "_session_requests";
/** Where sessions' requests are kept, for all components: clients call the app. */
const NAMESPACE = "";
const SYSTEM = { system: true } as const;
const SWEEP_SOURCE = "session_requests_cleanup";

export const SESSION_TABLE: TableSpec = {
  name: TABLE,
  indexes: [{ name: "by_request", fields: ["sessionId", "requestId", "part"] }],
};

/** A part of an outcome: a result may be larger than a document. */
interface SessionRow extends Doc {
  sessionId: string;
  requestId: number;
  part: number;
  /** Of the JSON of value and logs. */
  text: string;
  ts: Ts;
}

type Done = Extract<FunctionResult, { ok: true }>;

/** Its value may hold the commit timestamp's placeholder, for `ts`. */
export async function recordedOutcome(
  tx: Transaction,
  { sessionId, requestId }: SessionRequest,
): Promise<(Done & { ts: Ts }) | null> {
  const range: IndexRange = {
    table: TABLE,
    index: "by_request",
    range: [
      { type: "Eq", fieldPath: "sessionId", value: sessionId },
      { type: "Eq", fieldPath: "requestId", value: requestId },
    ],
    order: "asc",
    ...SYSTEM,
  };
  let text = "";
  let ts: Ts | null = null;
  for await (const doc of tx.stream(NAMESPACE, range)) {
    const row = doc as SessionRow;
    text += row.text;
    ts = row.ts;
  }
  if (ts === null) return null;
  const [value, logs] = JSON.parse(text) as [JSONValue, string[]];
  return { ok: true, value, logs, ts };
}

/** A failed mutation has changed nothing and is not recorded: the client's next attempt runs it. */
export async function recordOutcome(
  tx: Transaction,
  { sessionId, requestId }: SessionRequest,
  { value, logs }: Done,
): Promise<void> {
  const text = JSON.stringify([value, logs]);
  for (let part = 0; part * SESSION_REQUEST_PART_CHARS < text.length; part++) {
    const start = part * SESSION_REQUEST_PART_CHARS;
    const row = {
      sessionId,
      requestId,
      part,
      text: text.slice(start, start + SESSION_REQUEST_PART_CHARS),
      ts: COMMIT_TS,
    };
    await tx.insert(NAMESPACE, TABLE, row, SYSTEM);
  }
}

const COMMIT_TS = jsonToConvex({ $commitTs: null });

/** By runner: when the last sweep was. */
const sweeps = new WeakMap<Services, number>();

/** In the background, now and then when a request has been recorded: no call waits for it. */
export function sweepSessionRequests(services: Services): void {
  const now = services.env.now();
  const last = sweeps.get(services);
  if (last === undefined) sweeps.set(services, now);
  if (last === undefined || now - last < RETENTION_SWEEP_MS) return;
  sweeps.set(services, now);
  deleteBefore(services, now - SESSION_REQUEST_RETENTION_MS).catch((error: unknown) =>
    console.error("Old session requests were not deleted:", error),
  );
}

async function deleteBefore(services: Services, before: number): Promise<void> {
  const range: IndexRange = {
    table: TABLE,
    index: "by_creation_time",
    range: [{ type: "Lt", fieldPath: "_creationTime", value: before }],
    order: "asc",
    ...SYSTEM,
  };
  for (let more = true; more;) {
    const { value: deleted } = await transact(services, SWEEP_SOURCE, ACTION_WRITE, async (tx) => {
      let count = 0;
      for await (const { _id } of tx.stream(NAMESPACE, range)) {
        await tx.delete(NAMESPACE, _id, TABLE, SYSTEM);
        if (++count === RETENTION_BATCH) break;
      }
      return { commit: true, value: count };
    });
    more = deleted === RETENTION_BATCH;
  }
}
