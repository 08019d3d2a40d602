/**
 * Loaded into every child before its program. The starter holds the other end of the child's standard input: when it
 * goes, however it went, that end closes, and the child stops as if asked to. So nothing is left behind even by a
 * `kill -9` of the starter.
 */
process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
process.stdin.resume();
// Listening is no reason to live: the program ends when it has nothing else to do. (A pipe is a socket to Node.)
(process.stdin as unknown as { unref?: () => void }).unref?.();
