/** From an escape time to light. Tables are built once per process; each sample is one table read. */
import type { Palette } from "../convex/scene.js";

/** Linear light, not sRGB: averages of samples are taken as the eye would, by energy. */
export interface Light {
  readonly table: Float64Array;
  readonly inside: readonly [number, number, number];
}

/** Around the circle, as sRGB. The last joins the first. */
const STOPS: Record<Palette, { around: string[]; inside: string }> = {
  ember: {
    around: ["#1b1024", "#5c1f3a", "#c8452f", "#f3a847", "#fbeec2", "#8b6f8e"],
    inside: "#120a14",
  },
  lagoon: {
    around: ["#061826", "#0c4a5e", "#2a9d8f", "#bfe3cf", "#fdf3dc", "#4d6a8f"],
    inside: "#04101a",
  },
  lichen: {
    around: ["#14190f", "#3c5229", "#8ba04a", "#e6dfa3", "#fbf6e3", "#7a6a4f"],
    inside: "#0d100a",
  },
  plum: {
    around: ["#150f26", "#43307a", "#9c5fb5", "#eaa9c1", "#fdeee6", "#51648f"],
    inside: "#0d0918",
  },
};

/** Fine enough that neighbours differ by less than one step of 8 bits. */
const TABLE_SIZE = 4096;

const lights = new Map<Palette, Light>();

export function lightOf(palette: Palette): Light {
  let light = lights.get(palette);
  if (light === undefined) {
    light = buildLight(STOPS[palette]);
    lights.set(palette, light);
  }
  return light;
}

/** Where in the table an escape time lies. The root slows the colours down where escape times run fast. */
export function tableOffset(escapeTime: number): number {
  const turn = Math.sqrt(escapeTime) * 0.17;
  return 3 * Math.floor((turn - Math.floor(turn)) * TABLE_SIZE);
}

/** Linear light in 0…1 to a byte of sRGB (IEC 61966-2-1). */
export function toByte(light: number): number {
  const srgb = light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, srgb)) * 255);
}

function buildLight({ around, inside }: { around: string[]; inside: string }): Light {
  const stops = around.map(parse);
  const table = new Float64Array(TABLE_SIZE * 3);
  for (let i = 0; i < TABLE_SIZE; i++) {
    const position = (i / TABLE_SIZE) * stops.length;
    const from = stops[Math.floor(position)]!;
    const to = stops[(Math.floor(position) + 1) % stops.length]!;
    const part = position - Math.floor(position);
    const eased = part * part * (3 - 2 * part);
    for (let channel = 0; channel < 3; channel++) {
      table[i * 3 + channel] = from[channel]! + (to[channel]! - from[channel]!) * eased;
    }
  }
  return { table, inside: parse(inside) };
}

function parse(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255].map(toLight) as [number, number, number];
}

function toLight(byte: number): number {
  const srgb = byte / 255;
  return srgb <= 0.04045 ? srgb / 12.92 : ((srgb + 0.055) / 1.055) ** 2.4;
}
