/**
 * Creates a function that runs work when all work that it was given before has ended, well or not.
 *
 * @returns A function whose result is that of its work.
 */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
