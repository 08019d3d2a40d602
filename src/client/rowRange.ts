/** A range of an index, asked of one row: whether the row lies in it now. Pure. */
import { compareValues, type Value } from "convex/values";

type Row = Record<string, Value | undefined>;

/** The bounds that a function for `withIndex` names, as a test of rows. */
export function inRange(range: (q: any) => unknown): (row: Row) => boolean {
  const tests: ((row: Row) => boolean)[] = [];
  const bound = (holds: (order: number) => boolean) => (path: string, value?: Value) => {
    tests.push((row) => holds(compareValues(at(row, path), value)));
    return builder;
  };
  const builder = {
    eq: bound((order) => order === 0),
    gt: bound((order) => order > 0),
    gte: bound((order) => order >= 0),
    lt: bound((order) => order < 0),
    lte: bound((order) => order <= 0),
  };
  range(builder);
  return (row) => tests.every((holds) => holds(row));
}

/** The field of an index may be one of an object's. */
function at(row: Row, path: string): Value | undefined {
  const step = (value: Value | undefined, name: string) =>
    typeof value === "object" && value !== null
      ? (value as Record<string, Value | undefined>)[name]
      : undefined;
  return path.split(".").reduce(step, row as Value | undefined);
}
