/** Figures as lines of a markdown table. */

export function markdown(lines: readonly Record<string, string>[]): string {
  const names = Object.keys(lines[0] ?? {});
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    row(names),
    row(names.map(() => "---")),
    ...lines.map((line) => row(Object.values(line))),
  ].join("\n");
}

/** A mean, with two digits where it is small. */
export function short(figure: number): string {
  return figure.toFixed(figure < 10 ? 2 : 0);
}

/** The values that so many in 100 do not exceed, rounded. */
export function percentiles(values: readonly number[], hundredths: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return hundredths.map((of) =>
    Math.round(sorted[Math.floor((of / 100) * (sorted.length - 1))] ?? 0),
  );
}
