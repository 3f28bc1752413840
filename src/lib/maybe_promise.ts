/**
 * A value, or the promise of one. It is used on the path of each request and of each chunk of a stream, where a turn of
 * the event loop costs more than the work itself.
 */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Continues with a value, immediately if it is there.
 *
 * @param next Its failure is thrown, or rejects, as it is.
 * @param onFailure Takes the failure of a promise; not that of `next`. Default: it is passed on.
 */
export function chain<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
  onFailure?: (failure: unknown) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next, onFailure) : next(value);
}
