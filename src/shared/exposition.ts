/**
 * The text format in which Prometheus and compatible programs read metrics: version 0.0.4 of its exposition format. Client
 * libraries gather samples in a process, and want Node; here the samples lie in rows, and the code runs where there is neither.
 * Pure.
 */

type Labels = Readonly<Record<string, string>>;

export interface MetricSample {
  readonly labels?: Labels;
  readonly value: number;
}

/** How many were seen in each bucket, from the lowest up; the last has no bound. */
export interface MetricHistogram {
  readonly labels?: Labels;
  /** Upper bounds, one fewer than counts. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The samples under one name. */
export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: "gauge" | "counter"; readonly samples: readonly MetricSample[] }
  | { readonly type: "histogram"; readonly samples: readonly MetricHistogram[] }
);

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** One text of all families. */
export function expose(families: readonly Family[]): string {
  return families.map((family) => `${linesOf(family).join("\n")}\n`).join("");
}

function linesOf(family: Family): string[] {
  const { name, type } = family;
  const head = [`# HELP ${name} ${escapeHelp(family.help)}`, `# TYPE ${name} ${type}`];
  if (family.type === "histogram") {
    return [...head, ...family.samples.flatMap((sample) => histogramLines(name, sample))];
  }
  return [...head, ...family.samples.map(({ labels, value }) => line(name, labels, value))];
}

/** Each bucket also counts the buckets below it. */
function histogramLines(name: string, { labels, bounds, counts, sum }: MetricHistogram): string[] {
  let below = 0;
  const buckets = counts.map((count, i) => {
    below += count;
    return line(`${name}_bucket`, { ...labels, le: numberText(bounds[i] ?? Infinity) }, below);
  });
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, below)];
}

function line(name: string, labels: Labels = {}, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${numberText(value)}`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
