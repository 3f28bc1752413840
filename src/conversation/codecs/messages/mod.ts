/** The message protocol as a codec. Source: SPEC "POST /msgcompat/v1/messages"; Messages API reference. */
import type { Codec } from "../../codec.ts";
import { checkRequest } from "./caller/check.ts";
import { readError, writeError } from "./shared/error.ts";
import { eventReader } from "./upstream/event_reader.ts";
import { eventWriter } from "./caller/event_writer.ts";
import { readRequest } from "./caller/read_request.ts";
import { readReply, writeReply } from "./shared/reply.ts";
import { readUsage, usageFollower } from "./shared/usage.ts";
import { writeRequest } from "./upstream/write_request.ts";

export { checkCountRequest, readCount, readCountRequest, writeCount, writeCountRequest } from "./shared/count.ts";
export { wireToolName } from "./shared/tools.ts";

/** The message protocol, read and written in full. */
export const messages: Codec = {
  name: "messages",
  fieldNames: {
    stop: "stop_sequences",
    user: "metadata.user_id",
    parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
    reasoning: "thinking",
    reasoning_text: "thinking",
    reasoning_signature: "signature",
    output_format: "output_config.format",
    tool_strict: "tools.strict",
    tool_schema: "tools.input_schema",
    tool_description: "tools.description",
    custom_tool: "tools",
    tool_call: "tool_use",
    tool_error: "tool_result.is_error",
    tool_result_image: "tool_result.content",
    file: "document",
    file_name: "document.title",
  },
  checkRequest: (body) => checkRequest(body),
  readRequest: (body) => readRequest(body),
  writeRequest,
  readReply,
  writeReply,
  eventReader,
  eventWriter,
  readUsage,
  usageFollower,
  readError,
  writeError,
};
