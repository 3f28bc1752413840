import type { Codec } from "../../codec.ts";
import { checkRequest } from "./caller/check.ts";
import { writeDefaultError } from "../../default_error.ts";
import { readError } from "./upstream/error.ts";
import { eventReader } from "./upstream/event_reader.ts";
import { eventWriter } from "./caller/event_writer.ts";
import { readReply } from "./upstream/read_reply.ts";
import { readRequest } from "./caller/read_request.ts";
import { readUsage, usageFollower } from "./shared/usage.ts";
import { writeReply } from "./caller/write_reply.ts";
import { writeRequest } from "./upstream/write_request.ts";

export { wireToolName } from "./shared/tools.ts";

/** The form of `POST /v1/responses`. Source: Responses API reference. */
export const responses: Codec = {
  name: "responses",
  fieldNames: {
    max_tokens: "max_output_tokens",
    output_format: "text.format",
    output_strict: "text.format.strict",
    verbosity: "text.verbosity",
    user: "safety_identifier",
    cache_control: "prompt_cache_breakpoint",
    reasoning_text: "reasoning.summary",
    reasoning_signature: "reasoning.encrypted_content",
    tool_strict: "tools.strict",
    tool_schema: "tools.parameters",
    tool_description: "tools.description",
    custom_tool: "tools.custom",
    image: "input_image",
    image_detail: "input_image.detail",
    audio: "input_audio",
    file: "input_file",
    file_name: "input_file.filename",
    tool_result_image: "function_call_output.output",
    citations: "annotations",
  },
  checkRequest,
  readRequest,
  writeRequest,
  readReply,
  writeReply,
  eventReader,
  eventWriter,
  readUsage,
  usageFollower,
  readError,
  writeError: writeDefaultError,
};
