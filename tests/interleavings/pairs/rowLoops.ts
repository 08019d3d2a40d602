/** A loop over rows of the app's own table: it is announced, and ends when no row waits. */
import { UNVALIDATED, type Pair } from "../pair.js";
import { lines, restOfLoop } from "../rows.js";

const insertAndLastBatch: Pair = {
  of: "an insert of a row with its announcement, and a loop's last batch",
  orders: 28,
  async setUp(line) {
    const rows = [await line.do<string>(lines("insert"))];
    const [wake] = line.transactions.due(line.point);
    await line.do(wake!);
    return {
      calls: { insert: lines("insert") },
      check(answers) {
        rows[1] = answers.of<string>("insert");
      },
      rest: (line) => restOfLoop(line),
    };
  },
  mutants: [UNVALIDATED],
};

const twoPings: Pair = {
  of: "two announcements, where no loop is under way",
  orders: 2_340,
  setUp() {
    return Promise.resolve({ calls: { a: lines("insert"), b: lines("insert") }, rest: restOfLoop });
  },
  mutants: [UNVALIDATED],
};

export const ROW_LOOPS: readonly Pair[] = [insertAndLastBatch, twoPings];
