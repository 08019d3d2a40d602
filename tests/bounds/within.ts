/** Functions that no world measures by themselves. */

/** Snapshot queries, each measured as part of the calls that run it. */
export const WITHIN: Record<string, readonly string[]> = {
  "claim/choose:chooseJobs": [
    "lib:claim",
    "lib:complete",
    "push/wake:wake",
    "push/laneStep:stepLane",
  ],
  "push/lanes:readLanes": ["push/wake:wake"],
  "push/lanes:sleepingLanes": ["push/laneStep:stepLane"],
  "count/rollUp:findEnds": ["count/rollUp:countEnds"],
  "count/rollUp:nextRollUps": ["count/rollUp:countEnds"],
  "count/arrivals:findNewJobs": ["count/arrivals:countNewJobs"],
  "loops/segments:standingAlarms": ["lib:enqueue"],
  "loops/segments:planSegments": ["edges/dispatcher:promoteDue", "edges/startDeadlines:endExpired"],
  "manage/bulkFind:findForBulk": ["operate:cancelMany", "operate:retryMany", "operate:deleteMany"],
  "attempts/continued:recordFollowing": ["lib:complete"],
  "push/execute:executeOne": ["push/laneStep:stepLane"],
  "manage/bulk:runBulkStep": ["operate:cancelMany", "operate:retryMany", "operate:deleteMany"],
  "manage/bulk:continueBulk": ["operate:cancelMany", "operate:retryMany", "operate:deleteMany"],
  "push/surplus:laterWakes": ["push/wake:wake"],
};
/** Actions are no transactions. */
export const ACTIONS = ["push/laneAction:laneProcess"];
