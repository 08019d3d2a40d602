/** A configuration as a table: each value in effect, with its source. Pure. */
import type { ConfigSource, QueueState } from "../../shared/index.js";
import type { Labels } from "../labelOverrides.js";
import { numeral } from "../words.js";

export interface ConfigRow {
  readonly field: string;
  readonly label: string;
  readonly value: string;
  readonly source: ConfigSource;
  /** The code's value, where an override takes precedence. */
  readonly declared?: string;
}

export function configRows(state: QueueState, labels: Labels): ConfigRow[] {
  const { declared, sources, inForce } = state;
  const names: Readonly<Record<string, string>> = labels.settings;
  const known = Object.keys(names);
  const fields = Object.keys(inForce).sort((a, b) => place(known, a) - place(known, b));
  return fields.map((field) => {
    const inCode = valueOf(declared, field);
    const source = sources[field] ?? "default";
    const isOverridden = source === "override" && inCode !== undefined;
    return {
      field,
      label: names[field] ?? field,
      value: inWords(field, valueOf(inForce, field), labels),
      source,
      ...(isOverridden ? { declared: inWords(field, inCode, labels) } : {}),
    };
  });
}

const place = (known: readonly string[], field: string) =>
  known.includes(field) ? known.indexOf(field) : known.length;

const valueOf = (config: object, field: string): unknown =>
  (config as Record<string, unknown>)[field];

function inWords(field: string, value: unknown, labels: Labels): string {
  const { configuration, page, times } = labels;
  if (value === undefined) return page.none;
  if (typeof value === "boolean") return value ? configuration.yes : configuration.no;
  if (typeof value === "number") {
    return field.endsWith("Ms") ? times.duration(value) : numeral(value);
  }
  if (field === "retry") return retryWords(value as RetryOf, configuration);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(String).join(", ");
  return Object.entries(value as object)
    .map(([name, part]) => `${name.replace(/Ms$/, "")} ${inWords(name, part, labels)}`)
    .join(", ");
}

function retryWords(retry: RetryOf, labels: Labels["configuration"]): string {
  const { maxAttempts, initialBackoffMs, base, maxBackoffMs, jitter = "full" } = retry;
  if (maxAttempts === 1) return labels.noRetries;
  const words = labels.retries(maxAttempts, initialBackoffMs, base, maxBackoffMs);
  return jitter === "full" ? words : `${words}, ${labels.jitter(jitter)}`;
}

type RetryOf = NonNullable<QueueState["inForce"]["retry"]>;
