/** Fails unless `expr` is truthy, and narrows it. */
export declare function assert(expr: unknown, msg?: string): asserts expr;
/** Fails unless both are equal in depth. */
export declare function assertEquals<T>(actual: T, expected: T, msg?: string): void;
/** Fails if both are equal in depth. */
export declare function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;
/** Fails unless both are the same value (`Object.is`). */
export declare function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T;
/** Fails if the value is null or undefined, and narrows it. */
export declare function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T>;
/** Fails unless the text matches. */
export declare function assertMatch(actual: string, expected: RegExp, msg?: string): void;
/** Fails if the text matches. */
export declare function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;
/** Fails unless the text contains the other. */
export declare function assertStringIncludes(actual: string, expected: string, msg?: string): void;
/** Fails unless every expected item is in the list. */
export declare function assertArrayIncludes<T>(actual: ArrayLike<T>, expected: ArrayLike<T>, msg?: string): void;
/** Fails unless the object has at least the expected members. */
export declare function assertObjectMatch(
  actual: Record<PropertyKey, unknown>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;
/** Fails unless the value is of that class, and narrows it. */
export declare function assertInstanceOf<T>(
  actual: unknown,
  // deno-lint-ignore no-explicit-any
  expectedType: abstract new (...args: any[]) => T,
  msg?: string,
): asserts actual is T;
/** Fails unless a > b. */
export declare function assertGreater<T>(actual: T, expected: T, msg?: string): void;
/** Fails unless a >= b. */
export declare function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void;
/** Fails unless a < b. */
export declare function assertLess<T>(actual: T, expected: T, msg?: string): void;
/** Fails unless a <= b. */
export declare function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void;
/** Runs the function, fails unless it throws that class with a message that includes the text; gives the error. */
export declare function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any
  ErrorClass?: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): E;
/** As {@linkcode assertThrows}, for a function that rejects. */
export declare function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any
  ErrorClass?: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
/** Fails always. */
export declare function fail(msg?: string): never;
