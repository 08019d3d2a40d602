/** Lists that are read from another element on each time, so that each element has its turn. */

/** The list from a random element on. `random`: from 0 to below 1. */
export function rotate<T>(list: readonly T[], random: number): T[] {
  const start = Math.floor(random * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/** So many of the list, from a random element on; all of it where it has no more. */
export function someOf<T>(list: readonly T[], max: number): readonly T[] {
  return list.length <= max ? list : rotate(list, Math.random()).slice(0, max);
}
