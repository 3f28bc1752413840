import { readInputLine } from "./input_lines.ts";
import type { LineFormat } from "./line_format.ts";

/** `{custom_id, method, url, body}`. Source: OpenAI API reference, "Batch". */
export const DEFAULT_LINES: LineFormat = {
  read: readInputLine,
  hasUniqueIds: true,
  inputFields: { list: "requests", file: "input_file_id" },
  requestField: null,
  results: null,
};
