/** Plots of a scenario: figures by alternative, over the growing quantity, or in bars. */
import * as Plot from "@observablehq/plot";
import { JSDOM } from "jsdom";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ALTERNATIVES } from "../alternatives.js";
import type { Scenario } from "../cases.js";
import type { Figures } from "../figures/count.js";
import type { Line } from "../lines.js";
import { BENCH } from "./results.js";
import { short } from "./said.js";

interface Plotted {
  name: string;
  label: string;
  of: (figures: Figures) => number;
}

const PLOTTED: Plotted[] = [
  { name: "calls", label: "billed calls per job", of: ({ calls }) => calls },
  { name: "writes", label: "KB written a job", of: ({ bytesWritten }) => bytesWritten / 1_000 },
  {
    name: "start",
    label: "ms until half of the jobs have begun",
    of: ({ startMs }) => startMs.p50,
  },
  { name: "throughput", label: "jobs a second", of: ({ perSecond }) => perSecond },
];

const COLORS = { Conveyor: "#c2410c", "Conveyor, inline": "#f59e0b" };
const OTHERS = ["#1d4ed8", "#64748b"];
const WIDTH = 720;
/** How wide one is, on average. */
const LETTER = 6;

interface Point {
  label: string;
  /** Of one class: where several were played, each has a line of its own. */
  series: string;
  case: string;
  size: number;
  value: number;
}

/** Writes them, and returns their names by their figures. */
export function plotScenario(scenario: Scenario, lines: readonly Line[]): [string, string][] {
  const { document } = new JSDOM("").window;
  const folder = path.join(BENCH, "plots");
  mkdirSync(folder, { recursive: true });
  const grown = lines.filter(({ settings }) => typeof settings["size"] === "number");
  const sides = [...new Set(lines.map(({ of }) => ALTERNATIVES[of].side))];
  return sides.flatMap((side) =>
    PLOTTED.flatMap((plotted): [string, string][] => {
      const isOfSide = ({ of }: Line) => ALTERNATIVES[of].side === side;
      const growing =
        scenario.grows === undefined || hasTwice(grown.filter(isOfSide))
          ? []
          : grown.filter(isOfSide);
      const shown = growing.length > 1 ? growing : lines.filter(isOfSide);
      const classes = new Set(shown.map(({ settings }) => settings.class));
      const points = shown.map((line) => pointOf(plotted, line, classes.size > 1));
      if (points.every(({ value }) => value === 0)) return [];
      const svg =
        growing.length > 1
          ? overGrowth(points, plotted.label, scenario.grows!, document)
          : sideBySide(points, plotted.label, document);
      const name = `${fileName(scenario.title)}-${side}-${plotted.name}.svg`;
      writeFileSync(path.join(folder, name), `${svg}\n`);
      return [[plotted.label, `plots/${name}`]];
    }),
  );
}

/** Whether there are several cases of a size, so that no line can be drawn through them. */
function hasTwice(lines: readonly Line[]): boolean {
  const places = lines.map(({ of, settings }) => `${of} ${settings.class} ${settings["size"]}`);
  return new Set(places).size < places.length;
}

function pointOf(
  { of: figure }: Plotted,
  { of, case: name, window, settings, figures }: Line,
  areMixed: boolean,
): Point {
  const { label } = ALTERNATIVES[of];
  return {
    ...{ label, series: areMixed ? `${label}, ${settings.class.toUpperCase()}` : label },
    case: window === undefined ? name : `${name}, ${window}`,
    size: settings["size"] as number,
    value: figure(figures),
  };
}

/** Where lines end: one text for ends that are so close to each other that two would cover one another. */
function endsOf(points: readonly Point[]): Point[] {
  const last = [...new Map(points.map((point) => [point.series, point])).values()];
  const near = NEAR_PART * Math.max(...points.map(({ value }) => value));
  const ends: Point[] = [];
  for (const point of last.toSorted((a, b) => b.value - a.value)) {
    const above = ends.at(-1);
    const isNear = above?.size === point.size && above.value - point.value < near;
    if (isNear) ends[ends.length - 1] = { ...above, series: `${above.series}; ${point.series}` };
    else ends.push(point);
  }
  return ends;
}

/** Of the plot's height: a line of text. */
const NEAR_PART = 0.05;

function overGrowth(points: Point[], label: string, grows: string, document: Document): string {
  const isWide =
    Math.max(...points.map(({ size }) => size)) / Math.min(...points.map(({ size }) => size)) >= 30;
  const marks = { x: "size", y: "value", z: "series", stroke: "label" } as const;
  return plotted(
    {
      ...{ width: WIDTH, height: 320, marginLeft: 60, marginRight: 220 },
      x: { label: grows, type: isWide ? "log" : "linear", grid: true },
      y: { label, grid: true, zero: true },
      marks: [
        Plot.ruleY([0]),
        Plot.lineY(points, marks),
        Plot.dot(points, { ...marks, fill: "label" }),
        Plot.text(endsOf(points), {
          ...{ x: "size", y: "value", text: "series", fill: "label" },
          ...{ textAnchor: "start", dx: 8 },
        }),
      ],
    },
    points,
    document,
  );
}

function sideBySide(points: Point[], label: string, document: Document): string {
  const cases = new Set(points.map((point) => point.case));
  const marginLeft = 20 + LETTER * Math.max(...[...cases].map((name) => name.length));
  return plotted(
    {
      ...{
        width: WIDTH + marginLeft,
        height: 40 + 24 * points.length + 12 * cases.size,
        marginLeft,
        marginRight: 190,
      },
      x: { label, grid: true },
      y: { label: null, axis: null },
      fy: { label: null, domain: [...cases] },
      marks: [
        Plot.barX(points, { x: "value", y: "label", fy: "case", fill: "label" }),
        Plot.text(points, {
          ...{ x: "value", y: "label", fy: "case", textAnchor: "start", dx: 4 },
          text: ({ label: name, value }: Point) => `${short(value)} ${name}`,
        }),
        Plot.ruleX([0]),
      ],
    },
    points,
    document,
  );
}

function plotted(options: Plot.PlotOptions, points: readonly Point[], document: Document): string {
  const labels = [...new Set(points.map(({ label }) => label))];
  const others = labels.filter((label) => !(label in COLORS));
  const colorOf = (label: string) =>
    COLORS[label as keyof typeof COLORS] ?? OTHERS[others.indexOf(label) % OTHERS.length]!;
  const figure = Plot.plot({
    ...options,
    document,
    style: { background: "white", color: "#111827", fontFamily: "system-ui, sans-serif" },
    color: { domain: labels, range: labels.map(colorOf), legend: false },
  });
  figure.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return figure.outerHTML;
}

export function fileName(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
