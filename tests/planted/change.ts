/**
 * A planted bug names a function of the sources, and the change in it. The change is made on the syntax tree while the code is
 * bundled, never in the files, so that it survives a move, new names of locals, formatting and comments.
 */

/** Wrong behaviour, by one change or several. */
export interface Bug {
  name: string;
  changes: readonly Change[];
}

export type Change = Place &
  (Returns | Begins | Without | Gives | ConditionIs | ValueIs | TokensReplaced | Adds);

export interface Place {
  /**
   * A file and a function: `leaseBatch.ts:take`. The file is the end of one path in `src`: as short as it is unambiguous. The
   * function is also a method (`Loop.isOver`), a registered function, or a constant with functions (`systemClock.now`). Without a
   * function the place is the whole file.
   */
  in: string;
  /** Makes the change in each place that matches. Otherwise one place must match. */
  each?: true;
  /** Makes the change in the place of this number among those that match, from 1 on. */
  nth?: number;
  /** The version that is deployed in the middle of a run has the change, and the first has not. Default: both. */
  version?: "next";
}

/** The function is nothing but the return of this expression. */
export interface Returns {
  returns: string;
}

/** The function begins with this statement. */
export interface Begins {
  begins: string;
}

/** No call of this function is made: as a statement it is left out, elsewhere it is `undefined`. */
export interface Without {
  /** The function's name, or the end of a chain: `insert`, `db.insert`. */
  without: string;
  /** Words and texts in the call that tell it from other calls of the same function: `"callbacks"`. */
  with?: string;
}

/** The call of this function, its `await` included, is replaced by this expression, in which `$it` is the call. */
export interface Gives {
  call: string;
  with?: string;
  gives: string;
}

/** The smallest condition with all these words and texts, or operand of `&&` and `||`, is this one. */
export interface ConditionIs {
  condition: string;
  is: boolean | string;
}

/** The variable, constant or property with this name gets this value. */
export interface ValueIs {
  value: string;
  is: boolean | number | string;
}

/** Where nothing else fits: these tokens of the function are replaced by new ones. Whitespace, comments and trailing commas do not count. */
export interface TokensReplaced {
  from: string;
  to: string;
}

/** These declarations are appended to the file. */
export interface Adds {
  adds: string;
}
