/** A colour for each worker, from its name alone: the same in every browser and after a reload. */
import type { CSSProperties } from "react";

/** Sets `--worker`, which the style sheets draw with. Lightness is theirs to choose: it differs by colour scheme. */
export function workerColor(name: string): CSSProperties {
  return { "--worker-hue": String(hueOf(name)) } as CSSProperties;
}

/** FNV-1a (Fowler, Noll, Vo), turned by the golden angle so that names which differ by one letter lie far apart. */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return Math.round(((hash % 4096) * 137.50776) % 360);
}
