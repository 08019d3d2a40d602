/** Asks again until the answer is right; fails with the last answer after `timeoutMs`. */
export async function until<T>(
  ask: () => Promise<T>,
  isRight: (answer: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (performance.now() > deadline) {
      throw new Error(`not so after ${timeoutMs} ms; the last answer: ${JSON.stringify(answer)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
