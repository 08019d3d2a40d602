/** A foreign parser reads the text back. */
import fc from "fast-check";
import parse from "parse-prometheus-text-format";
import { describe, expect, test } from "vitest";
import { expose, type Family, type MetricSample } from "./exposition.js";

const gauge = (samples: readonly MetricSample[]): Family => ({
  ...{ name: "jobs", help: "Jobs.", type: "gauge", samples },
});

/** Of any code points but halves of a pair. The generator of the library first makes a table of all, which takes seconds. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }).filter((point) => point < 0xd800 || point > 0xdfff))
  .map((points) => String.fromCodePoint(...points));

describe("the text of metrics", () => {
  test("has a head for each family, a line for each sample, and a newline at its end", () => {
    const text = expose([
      gauge([{ labels: { queue: "tiles", status: "failed" }, value: 3 }, { value: 0.5 }]),
      { name: "ended_total", help: "Ends.", type: "counter", samples: [{ value: 7 }] },
    ]);
    expect(text.split("\n")).toEqual([
      ...["# HELP jobs Jobs.", "# TYPE jobs gauge"],
      ...['jobs{queue="tiles",status="failed"} 3', "jobs 0.5"],
      ...["# HELP ended_total Ends.", "# TYPE ended_total counter", "ended_total 7", ""],
    ]);
  });

  test("of a histogram counts in each bucket the buckets below it too, and ends with the total", () => {
    const sample = { bounds: [0.001, 0.002], counts: [1, 0, 4], sum: 12.5 };
    const of = (labels?: { queue: string }): string =>
      expose([
        {
          ...{ name: "wait", help: "Waits.", type: "histogram" },
          samples: [labels === undefined ? sample : { ...sample, labels }],
        },
      ]);
    expect(parse(of())).toEqual([
      {
        ...{ name: "wait", help: "Waits.", type: "HISTOGRAM" },
        metrics: [
          { buckets: { "0.001": "1", "0.002": "1", "+Inf": "5" }, sum: "12.5", count: "5" },
        ],
      },
    ]);
    expect(of({ queue: "tiles" }).split("\n").slice(2)).toEqual([
      'wait_bucket{queue="tiles",le="0.001"} 1',
      'wait_bucket{queue="tiles",le="0.002"} 1',
      'wait_bucket{queue="tiles",le="+Inf"} 5',
      ...['wait_sum{queue="tiles"} 12.5', 'wait_count{queue="tiles"} 5', ""],
    ]);
  });

  test("keeps NaN and infinity as numbers, and no text breaks out of its line", () => {
    const values = [Infinity, -Infinity, NaN, 1e21, 2 ** 31];
    const text = expose([gauge(values.map((value, i) => ({ labels: { of: String(i) }, value })))]);
    expect(parse(text)[0]!.metrics.map(({ value }) => value)).toEqual([
      ...["+Inf", "-Inf", "NaN", "1e+21", "2147483648"],
    ]);
    const help = 'a\n# TYPE other counter\nother{a="b"} 1 \\';
    const lines = expose([{ name: "jobs", help, type: "gauge", samples: [] }]).split("\n");
    expect(lines).toHaveLength(3);
  });

  test("any text of a label is read back as it was", () => {
    fc.assert(
      fc.property(anyText, fc.string(), (queue, error) => {
        const tricky = `${error}\n"\\n}`;
        const [family] = parse(expose([gauge([{ labels: { queue, error: tricky }, value: 1 }])]));
        expect(family!.metrics).toEqual([{ labels: { queue, error: tricky }, value: "1" }]);
      }),
    );
  });
});
