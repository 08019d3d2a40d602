/** From which seed a long test begins: the same each time, unless a variable asks for another, or for a new one. */
export function seedFrom(variable: string, usual: number): number {
  const asked = process.env[variable];
  if (asked === undefined) return usual;
  if (asked === "random") return Date.now() % 2 ** 31;
  if (/^\d+$/.test(asked)) return Number(asked);
  throw new Error(`${variable} is a whole number or "random"; got "${asked}".`);
}
