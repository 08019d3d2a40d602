/**
 * The official mock, with the same answers in less time: its queries look at every row of every table, and take each
 * bound of a range apart again for each of them. A part of it that is not as it is known here fails the run: look at the new
 * version, and write the part anew or take it away.
 */
import type { Plugin } from "vitest/config";

const MOCK = /\/convex-test\/dist\/index\.js$/;

interface Part {
  what: string;
  from: string;
  to: string;
}

const PARTS: readonly Part[] = [
  {
    what: "the ids of each table are known, in the order of their commits",
    from: "    _documents = {};\n",
    to: "    _documents = {};\n    _idsOfTables = new Map();\n",
  },
  {
    what: "a commit deletes an id",
    from: "                    delete this._documents[_id];\n",
    to: `                    delete this._documents[_id];
                    this._idsOfTables.get(tableNameFromId(_id))?.delete(_id);
`,
  },
  {
    what: "a commit adds an id",
    from: "                    this._documents[_id] =\n",
    to: `                    const table = tableNameFromId(_id);
                    if (!this._idsOfTables.has(table)) this._idsOfTables.set(table, new Set());
                    this._idsOfTables.get(table).add(_id);
                    this._documents[_id] =
`,
  },
  {
    what: "a query looks at its table's rows",
    from: `        const ids = new Set(Object.keys(this._documents).filter(isInTable));
        for (let i = 0; i < this._writes.length; i++) {
            for (const id of Object.keys(this._writes[i]).filter(isInTable)) {
                ids.add(id);
            }
        }
        for (const id of ids) {
            const document = this.get(tableName, id);
            if (document !== null) {
                callback(document);
            }
        }
`,
    to: `        const committed = this._idsOfTables.get(tableName) ?? new Set();
        const written = new Map();
        for (const writes of this._writes) {
            for (const id in writes) {
                if (isInTable(id)) written.set(id, writes[id]);
            }
        }
        for (const id of committed) {
            const document = written.has(id) ? written.get(id) : this._documents[id];
            if (document !== null) callback(document);
        }
        for (const [id, document] of written) {
            if (document !== null && !committed.has(id)) callback(document);
        }
`,
  },
  {
    what: "the bounds of a range are taken apart once",
    from: `                this._iterateDocs(tableName, (doc) => {
                    if (source.range.every((filter) => evaluateRangeFilter(doc, filter))) {
`,
    to: `                const bounds = source.range.map((filter) => rangeFilter(filter));
                this._iterateDocs(tableName, (doc) => {
                    if (bounds.every((isWithin) => isWithin(doc))) {
`,
  },
  {
    what: "a range's bound as a function",
    from: "function evaluateRangeFilter(document, expr) {\n",
    to: `function rangeFilter({ type, fieldPath, value: json }) {
    const value = evaluateQueryValue(json);
    const order = (document) => compareValues(evaluateFieldPath(fieldPath, document), value);
    switch (type) {
        case "Eq":
            return (document) => order(document) === 0;
        case "Gt":
            return (document) => order(document) > 0;
        case "Gte":
            return (document) => order(document) >= 0;
        case "Lt":
            return (document) => order(document) < 0;
        case "Lte":
            return (document) => order(document) <= 0;
    }
}
function evaluateRangeFilter(document, expr) {
`,
  },
  {
    what: "rows are sorted by keys that are read once",
    from: `        results.sort((a, b) => {
            const orderMultiplier = order === "asc" ? 1 : -1;
            let v = 0;
            for (const fp of fieldPathsToSortBy) {
                v = compareValues(evaluateFieldPath(fp, a), evaluateFieldPath(fp, b));
                if (v !== 0) {
                    return v * orderMultiplier;
                }
            }
            return v * orderMultiplier;
        });
`,
    to: `        const orderMultiplier = order === "asc" ? 1 : -1;
        const fixed = new Set((source.range ?? []).filter(({ type }) => type === "Eq").map(({ fieldPath }) => fieldPath));
        const paths = fieldPathsToSortBy.filter((path) => !fixed.has(path));
        const keyed = results.map((doc) => ({ doc, keys: paths.map((path) => evaluateFieldPath(path, doc)) }));
        keyed.sort((a, b) => {
            for (let i = 0; i < paths.length; i++) {
                const v = compareValues(a.keys[i], b.keys[i]);
                if (v !== 0) return v * orderMultiplier;
            }
            return 0;
        });
        keyed.forEach(({ doc }, i) => {
            results[i] = doc;
        });
`,
  },
  {
    what: "a field of a row is read without a walk",
    from: `function evaluateFieldPath(fieldPath, document) {
`,
    to: `function evaluateFieldPath(fieldPath, document) {
    if (!fieldPath.includes(".")) {
        const value = document[fieldPath];
        return typeof value === "object" ? resolvePendingValues(value) : value;
    }
`,
  },
  {
    what: "an id's table is found without a search",
    from: `    const match = id.match(/^[0-9]+/);
    if (!match || match[0].length === id.length) {
        return null;
    }
    return id.slice(match[0].length);
`,
    to: `    if (typeof id !== "string") return id.match();
    let digits = 0;
    while (digits < id.length && id.charCodeAt(digits) >= 48 && id.charCodeAt(digits) <= 57) digits++;
    return digits === 0 || digits === id.length ? null : id.slice(digits);
`,
  },
  {
    what: "a function's validators are read once",
    from: `    const args = JSON.parse(func.exportArgs());
`,
    to: `    const known = validatorsOf.get(func);
    if (known !== undefined) return { func, functionPath, handler, ...known };
    const args = JSON.parse(func.exportArgs());
`,
  },
  {
    what: "and kept",
    from: `    const returns = JSON.parse(func.exportReturns());
    return { func, functionPath, handler, returns, args };
}
`,
    to: `    const returns = JSON.parse(func.exportReturns());
    validatorsOf.set(func, { returns, args });
    return { func, functionPath, handler, returns, args };
}
const validatorsOf = new WeakMap();
`,
  },
];

export function quickMock(): Plugin {
  return {
    name: "quick-mock",
    enforce: "pre",
    transform(code, id) {
      if (!MOCK.test(id)) return null;
      return { code: quicker(code), map: null };
    },
  };
}

/** The text of the mock, with each part in its quicker form. */
export function quicker(code: string): string {
  return PARTS.reduce(withPart, code);
}

function withPart(code: string, { what, from, to }: Part): string {
  const [before, after, ...more] = code.split(from);
  if (after === undefined || more.length > 0)
    throw new Error(
      `convex-test is not as it was known: "${what}". See tests/support/quickMock.ts.`,
    );
  return `${before}${to}${after}`;
}
