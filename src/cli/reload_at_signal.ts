/**
 * Creates the listener of a signal that asks for a reload. Signals during a reload lead to one more after it, however
 * many they are: it reads what they announce.
 *
 * @param reload May reject; it reports its failures.
 */
export function reloadAtSignal(reload: () => Promise<unknown>): () => void {
  let isRunning = false;
  let isRepeated = false;
  const run = async () => {
    isRunning = true;
    do {
      isRepeated = false;
      await reload().catch(() => {});
    } while (isRepeated);
    isRunning = false;
  };
  return () => {
    if (isRunning) isRepeated = true;
    else void run();
  };
}
