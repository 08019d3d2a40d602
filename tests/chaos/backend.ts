/** The local backend by a clock that may be wrong: `CLOCK_SHIFT_MS`. */
import "../support/clock.js";
import "../../local/main.js";
