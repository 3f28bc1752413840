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

/** Chat completions, of the form's author and of the many vendors that resemble it. Source: Chat Completions reference. */
export const chat: Codec = {
  name: "chat",
  fieldNames: {
    max_tokens: "max_completion_tokens",
    reasoning: "reasoning_effort",
    reasoning_text: "reasoning_content",
    reasoning_signature: "reasoning_details",
    output_format: "response_format",
    output_strict: "response_format.json_schema.strict",
    tool_schema: "tools.function.parameters",
    tool_strict: "tools.function.strict",
    tool_description: "tools.function.description",
    custom_tool: "tools.custom",
    image: "image_url",
    image_detail: "image_url.detail",
    tool_result_image: "messages.content.image_url",
    audio: "input_audio",
    video: "video_url",
    file_name: "file.filename",
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
