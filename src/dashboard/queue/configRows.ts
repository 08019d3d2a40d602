/** A configuration as a table: what counts, and who said so. Pure. */
import type { ConfigSource, QueueState } from "../../shared/index.js";
import { duration, numeral } from "../words.js";

export interface ConfigRow {
  readonly field: string;
  readonly label: string;
  readonly value: string;
  readonly source: ConfigSource;
  /** What the code says where an override wins over it. */
  readonly declared?: string;
}

const LABELS: Readonly<Record<string, string>> = {
  leaseMs: "Lease",
  graceMs: "Grace after a lease",
  maxResets: "Lost workers borne",
  shards: "Shards",
  retry: "Retries",
  timeoutMs: "Longest attempt",
  expiresAfterMs: "Expires if not begun within",
  deadlineMs: "Times out if not ended within",
  circular: "Ring",
  restMs: "Rest between rounds",
  retention: "Finished jobs are kept",
  onComplete: "Told how jobs end",
  onCompleteExclude: "Not told of",
  listBy: "Listed by, besides state",
  logLevel: "Logged from",
  push: "Worked on by Convex",
  handler: "Handler",
  maxParallelism: "At once inside Convex",
  fallbackAfterMs: "Left to workers outside for",
  handlerMissingAfterMs: "Without a handler, failed after",
  result: "Results must be",
};

export function configRows({ declared, sources, inForce }: QueueState): ConfigRow[] {
  const known = Object.keys(LABELS);
  const fields = Object.keys(inForce).sort((a, b) => place(known, a) - place(known, b));
  return fields.map((field) => {
    const said = valueOf(declared, field);
    const source = sources[field] ?? "default";
    return {
      field,
      label: LABELS[field] ?? field,
      value: inWords(field, valueOf(inForce, field)),
      source,
      ...(source === "override" && said !== undefined ? { declared: inWords(field, said) } : {}),
    };
  });
}

const place = (known: readonly string[], field: string) =>
  known.includes(field) ? known.indexOf(field) : known.length;

const valueOf = (config: object, field: string): unknown =>
  (config as Record<string, unknown>)[field];

function inWords(field: string, value: unknown): string {
  if (value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return field.endsWith("Ms") ? duration(value) : numeral(value);
  if (field === "retry") return retryWords(value as RetryOf);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(String).join(", ");
  return Object.entries(value as object)
    .map(([name, part]) => `${name.replace(/Ms$/, "")} ${inWords(name, part)}`)
    .join(", ");
}

function retryWords(retry: RetryOf): string {
  const { maxAttempts, initialBackoffMs, base, maxBackoffMs, jitter = "full" } = retry;
  if (maxAttempts === 1) return "none";
  const first = duration(initialBackoffMs);
  const most = `at most ${duration(maxBackoffMs)}`;
  const random = jitter === "full" ? "" : `, jitter ${jitter}`;
  return `${maxAttempts} attempts, ${first} × ${base}ⁿ apart, ${most}${random}`;
}

type RetryOf = NonNullable<QueueState["inForce"]["retry"]>;
