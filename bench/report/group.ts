/** In groups, each in the order in which its first came. */
export function groupBy<T>(list: readonly T[], nameOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const name = nameOf(one);
    const group = groups.get(name) ?? [];
    groups.set(name, [...group, one]);
  }
  return groups;
}
