import { Buffer } from "node:buffer";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { oneLine, requestIn, valueOf } from "./input_lines.ts";
import { isSuccess } from "./line_runner.ts";
import type { LineFormat, NotRun } from "./line_format.ts";

/** Source: Anthropic API reference, "Create a Message Batch". */
const CUSTOM_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Source: Anthropic API reference, "Retrieve Message Batch results". */
const NOT_RUN: Readonly<Record<NotRun, string>> = { cancelled: "canceled", expired: "expired" };

/** `{custom_id, params}`, and `{custom_id, result}`. Source: Anthropic API reference, "Message Batches". */
export const MESSAGE_LINES: LineFormat = {
  read(sent) {
    const { outline, bytes, scan } = jsonObjectOf(sent);
    const { custom_id: customId } = outline;
    if (typeof customId !== "string" || !CUSTOM_ID.test(customId)) {
      throw invalidField("custom_id", "expected 1 to 64 letters, digits, underscores and hyphens");
    }
    const { stream, model } = requestIn(outline.params, "params");
    if (stream === true) throw invalidField("params.stream", "expected no stream in a batch");
    return { customId, body: valueOf({ bytes, scan }, "params"), model: typeof model === "string" ? model : "" };
  },
  hasUniqueIds: true,
  inputFields: { list: "requests", file: "input_file_id" },
  requestField: "params",
  results: {
    answered(line, body) {
      const [type, member] = isSuccess(line) ? ["succeeded", "message"] : ["errored", "error"];
      const head = `{"custom_id":${JSON.stringify(line.customId)},"result":{"type":"${type}","${member}":`;
      return Buffer.concat([Buffer.from(head), oneLine(body), Buffer.from("}}")]);
    },
    notRun: (customId, why) => Buffer.from(JSON.stringify({ custom_id: customId, result: { type: NOT_RUN[why] } })),
  },
};
