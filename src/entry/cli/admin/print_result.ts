import type { AdminResponse } from "./admin_api.ts";
import { print, printError } from "../print.ts";

/**
 * Prints what the admin API returned, or its error.
 *
 * @param write Gives the text of a body that is no error.
 * @returns The exit code.
 */
export function printResult(response: AdminResponse, write: (body: unknown) => string): number {
  if (response.status >= 400) {
    printError(errorTextOf(response));
    return 1;
  }
  print(write(response.body));
  return 0;
}

/** The text of an error of the admin API: its message, or its status without one. */
export function errorTextOf({ status, body }: AdminResponse): string {
  const message = (body as { error?: { message?: unknown } } | null)?.error?.message;
  return typeof message === "string" ? message : `The admin API answered with status ${status}`;
}
