import type { BatchRecord } from "./batch.ts";
import { DEFAULT_LINES } from "./default_lines.ts";
import type { LineFormat } from "./line_format.ts";
import { MESSAGE_LINES } from "./message_lines.ts";

/** The format of the lines of a batch. */
export function lineFormatOf({ protocol = "default" }: Pick<BatchRecord, "protocol">): LineFormat {
  return protocol === "message" ? MESSAGE_LINES : DEFAULT_LINES;
}
