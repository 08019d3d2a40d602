/** Calls a callback of the engine's users. One that throws has a bug: it must be loud, and must not fail a commit. */
export function callBack(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
