import type { CurlResult } from "./curl.ts";

/** What a command printed. */
export interface Printed {
  readonly text: string;
  /** Exit code 0, or a status below 400. */
  readonly isSuccess: boolean;
  /** Whether it goes on: a stream that was read as far as a sample shows it. */
  readonly isCut?: boolean;
  /** Of curl. */
  readonly response?: CurlResult;
}
