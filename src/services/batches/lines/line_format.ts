import type { SettledLine } from "../records/batch.ts";
import type { InputLine } from "./input_lines.ts";

/** How a batch with lines ends. */
export type BatchEnd = "completed" | "cancelled" | "expired";

/** Why a line was not run. */
export type NotRun = Exclude<BatchEnd, "completed">;

/** The lines of a batch in the format of its protocol. */
export interface LineFormat {
  /**
   * Reads a line.
   *
   * @param endpoint The path of the endpoint of the batch.
   * @throws {GatewayError} `invalid_request`, naming the field within the line.
   */
  read(bytes: Uint8Array<ArrayBuffer>, endpoint: string): InputLine;
  /** Whether no two lines may have one id. */
  readonly hasUniqueIds: boolean;
  /** The member of a line that errors of its endpoint are about; null if such errors name only the endpoint's field. */
  readonly requestField: string | null;
  /** The fields of a create that have the lines, or name their file. */
  readonly inputFields: { readonly list: string; readonly file: string };
  /**
   * Writes the single file of results, which has all lines in the order of the input. Null: the batch has an output
   * file and an error file.
   */
  readonly results: ResultFormat | null;
}

/** How a file of all lines is written. */
export interface ResultFormat {
  /** The line of a reply, without its end. The body stays as the endpoint wrote it. */
  answered(line: SettledLine, body: Uint8Array<ArrayBuffer>): Uint8Array;
  /** The line of a request that was not run, without its end. */
  notRun(customId: string, why: NotRun): Uint8Array;
}
