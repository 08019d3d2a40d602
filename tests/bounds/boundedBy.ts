/** The bounds of each registered function's reads: limits of `src/shared`, by name, or the one row that it concerns. */

const LOOK = "`LOOK_RANGES_MAX`, `LOOK_ROWS_MAX`, `LOOK_BYTES_MAX` of all queues together";
const LEASES = "64 leases (`LEASES_MAX`), alarms by segment";
const ONE_JOB = "one job";
const REPORT =
  "64 leases, 256 entries and 256 parts of output (`REPORT_MAX_ITEMS`); what goes, as `attempts/reportRoom.ts` lets it";
const MANY = "512 jobs looked at (`BULK_SCANNED`), 100 changed (`BULK_CHANGED`)";
const ONE_QUEUE = "one queue's row";
const COUNTS =
  "`COUNTED_BYTES` of all statuses together; `RANGES_READ` and their bytes for the oldest job";
const WATCH = "16 queues a look; `WATCH_RANGES_MAX` of all together";
const PAGE = "a page: `REPORT_MAX_BYTES`";
const SESSIONS = "`SESSIONS_READ_BYTES` of each state";
const LANES = "2,064 lanes of a queue (`LANES_READ`), 24 of their sessions";
const MOUNT = "the slots and places of the class";
const STEP = `${LEASES}; ${LOOK}; ${LANES}`;

const BY: Record<string, string> = {
  "lib:enqueue": "1,000 jobs (`ENQUEUE_MAX_JOBS`); of a queue's routes 127 rows, read once",
  "lib:declare": "32 queues (`QUEUES_MAX`); of each with more shards its routes",
  "lib:replace": ONE_JOB,
  "lib:statusBatch": "100 jobs (`STATUS_BATCH_MAX`), `STATUS_BATCH_MAX_BYTES`",
  "lib:attempts": "1,000 attempts (`PAGE_MAX`) with errors and traces of 4 KB each",
  "lib:logs": PAGE,
  "lib:output": PAGE,
  "lib:counts": "`COUNTED_BYTES` of all statuses together",
  "lib:workers": SESSIONS,
  "lib:watch": WATCH,
  "operate:listTokens": "1,000 tokens (`TOKENS_MAX`)",
  "lib:hasWork": LOOK,
  "lib:peek": LOOK,
  "lib:claim": `${LOOK}; the rows and payloads of 64 jobs, \`CLAIM_MAX_BYTES\`; 128 rows of the app's tables (\`OFFERED_ROWS_MAX\`)`,
  "lib:complete": `${LEASES}; then as a claim; \`PAYLOADS_READ_BYTES\` of results that go`,
  "lib:completeLater": ONE_JOB,
  "lib:cancellations": LEASES,
  "lib:isQuiet": "one session's row",
  "lib:standby": "two rows of call-ups",
  "claim/onCall:seePeers":
    "32 sessions on call, and 384 that stand by (`CALL_UP_MAX`), `SESSIONS_READ_BYTES`",
  "operate:quietWorker": "one session's row",
  "operate:resumeWorker": "one session's row",
  "tables:wanted": ONE_QUEUE,
  "tables:announce": ONE_QUEUE,
  "tables:loop": ONE_QUEUE,
  "tables:advance": ONE_QUEUE,
  "lib:takeBack": LEASES,
  "lib:heartbeat": `${LEASES}; ${WATCH}; peers as \`claim/onCall:seePeers\`, and 64 rows of call-ups`,
  "lib:leave":
    "16 queues and their fleets; peers as `claim/onCall:seePeers`, and 64 rows of call-ups",
  "lib:report": REPORT,
  "lib:laneReport": REPORT,
  "lib:laneStanding": LEASES,
  "lib:laneStep": STEP,
  "push/laneStep:stepLane": STEP,
  "push/laneOnce:runSingle": STEP,
  "push/laneOnce:leaveSingle": STEP,
  "push/wake:wake": `${LOOK}; ${LANES}; ${MOUNT}`,
  "push/wake:oldestWaiting": "`RANGES_READ`, and 1.5 KB of rows for each",
  "push/idleShutdown:readIdle": `9 queues; ${WATCH}`,
  "rows/tokenSessions:findTokenSessions":
    "1,000 sessions of a token (`SESSIONS_MAX`), 16 of their rows",
  "observe:queues": "1,000 queues (`QUEUES_LISTED_MAX`)",
  "observe:overview": COUNTS,
  "observe:mainLoop":
    "512 lanes (`LANES_SHOWN`), `SESSIONS_READ_BYTES`; 32 scheduled functions (`PROCESSES_ASKED`); 100 queues",
  "observe:metrics": COUNTS,
  "observe:gauge": COUNTS,
  "observe:health": COUNTS,
  "count/gauge:readGauge": COUNTS,
  "count/rollUp:countEnds": `512 ends (\`ROLL_UP_JOBS\`); as \`count/gauge:readGauge\``,
  "observe:stats": "1,000 periods (`STATS_MAX`)",
  "observe:list": "`LIST_ROWS_MAX`, `LIST_BYTES_MAX`; the first rows of `LIST_PLACES_MAX` places",
  "observe:position": "100 jobs before it (`POSITION_MAX`) in each place",
  "observe:why": "100 sessions (`CREW_READ`), 256 running jobs, within 512 KiB",
  "claim/fleet:fleetMembers": SESSIONS,
  "claim/fleet:countFleet": SESSIONS,
  "operate:events": "1,000 events (`EVENTS_MAX`)",
  "operate:taskState": "100 events",
  "operate:deleteJob": "`REMOVE_ROWS`, `REMOVE_BYTES` twice, the job's three values",
  "operate:cancelMany": MANY,
  "operate:retryMany": MANY,
  "operate:deleteMany": MANY,
  "workpool:cancelAll": "512 jobs looked at (`BULK_SCANNED`), 64 changed",
  "workpool:statusBatch": "500 jobs (`WORK_STATUS_MAX`)",
  "lib:tend": "as one sweep, or one check of overdue work",
  "tend/tend:tendNow": "as one sweep",
  "tend/tend:findLate": "64 timers of the janitor, one session",
  "tend/janitor:sweep":
    "8 silent sessions (`EXPIRED_MAX`), 128 leases, none after `PAYLOADS_READ_BYTES`; as its looks",
  "tend/sweepPlan:findLostLeases":
    "64 sessions (`RANGE_ROWS`), `SESSIONS_READ_BYTES` of one token's, the processes of the class",
  "tend/sweepPlan:planSweep":
    "64 sessions of each state, within 512 KiB; `PUBLISH_PLACES_MAX`, `PUBLISH_BYTES_MAX` of all queues",
  "tend/lostLeases:expireSession": LEASES,
  "tend/watchdog:findOverdue": WATCH,
  "tend/watchdog:watchOthers": WATCH,
  "tend/watchdog:visitQueues": WATCH,
  "edges/dispatcher:promoteDue": "256 jobs (`PROMOTE_MAX`)",
  "edges/dispatcher:isDispatchBehind": "256 places (`PROMOTE_LOOKS_MAX`) and jobs",
  "edges/startDeadlines:endExpired": "64 jobs (`EXPIRE_MAX`)",
  "edges/startDeadlines:findBegun": "64 jobs (`EXPIRE_MAX`)",
  "count/arrivals:countNewJobs":
    "512 new jobs (`ARRIVALS_JOBS`) of 64 queues (`ARRIVALS_QUEUES`), and as many that are gone",
  "count/purge:purgeQueue": "100 jobs (`REMOVE_JOBS`), `REMOVE_ROWS`, `REMOVE_BYTES` twice",
  "tend/revoked:findRevoked": "64 sessions (`REVOKED_SESSIONS`)",
  "tend/revoked:endRevokedSessions": "64 sessions (`REVOKED_SESSIONS`)",
  "index/outsideWorkers:outsideServed": "64 sessions of each state, `SESSIONS_BYTES`",
  "index/outsideWorkers:outsideOffers": "as `index/outsideWorkers:outsideServed`",
  "loops/timers:janitorTimers": "64 timers",
  "rows/routes:unusedRoutes": "half of `LOOK_RANGES_MAX`",
  "edges/callbacks:planCallback": "64 callbacks of one job",
};

const GROUPS: [RegExp, string][] = [
  [/^lib:process|^push\/mainLoop:/, MOUNT],
  [
    /^operate:(pauseQ|drain|resumeQ|configure|reset|queueState)|^rows\/queues:|^config:|^edges\/wakes:/,
    ONE_QUEUE,
  ],
  [/Token$|^attempts\/report:find|^rows\/cancels:findCancelRequests|^push\/laneReport:/, "one row"],
];

export function boundedBy(name: string): string {
  return BY[name] ?? GROUPS.find(([pattern]) => pattern.test(name))?.[1] ?? ONE_JOB;
}
