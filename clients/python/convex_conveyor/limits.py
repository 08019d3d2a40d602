"""Times and bounds of the worker: the protocol's limits, and the worker's own. Seconds and bytes."""

#: The protocol's version: a deployment of an older one refuses some of these calls.
PROTOCOL = 1

# --- The deployment's limits ---------------------------------------------------------------------

NAME_MAX_LENGTH = 64
#: Jobs of one claim, outcomes of one `complete`, and leases of one session.
LEASES_MAX = 64
QUEUES_MAX = 32
LABELS_MAX = 64
GROUPS_MAX = 64
COST_MAX = 1_000_000_000
#: The longest wait of a snooze and of a retry: four years.
WAIT_MAX_S = 4 * 366 * 86_400
PAYLOAD_MAX_BYTES = 2**20 - 4_096
#: The payloads of the jobs that follow another, together.
ENQUEUE_MAX_BYTES = 4 * 2**20
#: Levels of arrays and objects in one another.
PAYLOAD_MAX_DEPTH = 14
ARRAY_MAX_ELEMENTS = 8_192
OBJECT_MAX_FIELDS = 1_024
PROGRESS_MAX_BYTES = 8_192
LOG_MESSAGE_MAX_BYTES = 4_096
LOG_DATA_MAX_BYTES = 8_192
LOGS_MAX = 1_000
OUTPUT_PART_MAX_BYTES = 64 * 2**10
OUTPUT_MAX_BYTES = 16 * 2**20
ERROR_MAX_BYTES = 4_096
TRACE_MAX_BYTES = 4_096
#: Log entries and parts of output in one `report`, and all of its bytes.
REPORT_MAX_ITEMS = 256
REPORT_MAX_BYTES = 4 * 2**20
CONTINUED_MAX = 64
#: Beats in a lease: two may be lost.
BEATS_PER_LEASE = 3

# --- The worker's own times ----------------------------------------------------------------------

#: A claim or completion without an answer is repeated after this; the platform's own retries fit in it.
CALL_TIMEOUT_S = 30.0
#: The slowest line that carries the largest call: it is repeated as it is, and would be cut off each time.
LINE_BYTES_PER_S = 32_000
#: A beat is worth little when it is late, and the next one says the same.
BEAT_TIMEOUT_S = 10.0
#: Between repeats: doubling, each time a random half to whole.
REPEAT_MIN_S = 0.25
REPEAT_MAX_S = 10.0
#: Between tries of one outcome that the deployment refuses.
REFUSED_MIN_S = 1.0
REFUSED_MAX_S = 60.0
#: An outcome that was refused so often alone goes without its callback.
REFUSALS_BEFORE_DEFERRING = 2
#: One that is refused as often even so is handed over to the deployment.
REFUSALS_BEFORE_HANDING_OVER = 4
COMPLETE_MAX_BYTES = 4 * 2**20
#: So much each job that follows counts besides: the outcomes of one call may be followed by a thousand together.
FOLLOWING_BYTES = COMPLETE_MAX_BYTES // 1_000 + 1

#: So often at most a worker tends late work in a row: each call ends the leases of a few sessions.
TENDS_MAX = 16

#: Over how long workers that start at once spread their first claims.
FIRST_SPREAD_S = 0.05
POLL_MIN_S = 0.25
POLL_MAX_S = 5.0
#: Each poll in vain makes the next wait so many times longer.
POLL_GROWTH = 1.5
#: Between two questions for cancellations, for jobs that run for longer than the second number.
CANCEL_POLL_S = 2.0
CANCEL_POLL_AFTER_S = 0.5
#: An idle session counts as live for 90 s after its last mutation.
PRESENCE_S = 60.0

REPORT_INTERVAL_S = 0.25
#: Output waits for a line's end or so many characters, and no longer than this.
FLUSH_CHARS = 100
FLUSH_S = 1.0
REPORT_REFUSALS_MAX = 3
#: Reports of one handler that wait for the worker's loop: the handler waits to make another.
UNHEARD_MAX = 256

#: The grace of handlers at a stop: under the 10 s after which Docker kills.
GRACE_S = 8.0
#: For the last `complete` after the grace.
LAST_CALLS_S = 1.5
GOODBYE_S = 0.5
#: How long a handler keeps its slot after its signal to stop.
ABANDON_AFTER_S = 5.0
#: How long a job waits for the handler of its last attempt, which goes on after its signal; then it goes back, in the
#: end for so long.
BESIDE_S = 1.0
BESIDE_BACK_MAX_S = 60.0
#: The same Ctrl-C may arrive twice: from the terminal and from a launcher.
SAME_SIGNAL_S = 0.5
