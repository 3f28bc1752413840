import type { BatchProtocol, BatchRecord } from "../records/batch.ts";
import { contentLines } from "./content_lines.ts";
import { DEFAULT_LINES } from "./default_lines.ts";
import type { LineFormat } from "./line_format.ts";
import { MESSAGE_LINES } from "./message_lines.ts";

/** What the format of the lines of a batch depends on. */
export interface LineFormatFacts extends Pick<BatchRecord, "protocol" | "inputFileId"> {
  readonly model?: string | null | undefined;
}

/** The format of the lines of a batch. */
export function lineFormatOf({ protocol = "default", inputFileId, model }: LineFormatFacts): LineFormat {
  return FORMATS[protocol]({ inputFileId, model });
}

const FORMATS: Readonly<Record<BatchProtocol, (facts: LineFormatFacts) => LineFormat>> = {
  default: () => DEFAULT_LINES,
  message: () => MESSAGE_LINES,
  content: ({ inputFileId, model }) => contentLines(model ?? "", inputFileId === null),
};
