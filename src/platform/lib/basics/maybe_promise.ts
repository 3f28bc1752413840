/**
 * A value, or the promise of one. It is used on the path of each request and of each chunk of a stream, where a turn of
 * the event loop costs more than the work itself.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Whether a value is not there yet. */
export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}

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
  return isPending(value) ? value.then(next, onFailure) : next(value);
}

/** Replaces the failure of a promise. A value is returned as it is. */
export function recover<T>(
  value: MaybePromise<T>,
  onFailure: (failure: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  return isPending(value) ? value.catch(onFailure) : value;
}
