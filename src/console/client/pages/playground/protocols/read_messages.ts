import { type JsonObject, objectIn, objectsIn, textIn } from "../../../json.ts";
import {
  fileIn,
  type OpenedChat,
  OpenedMessages,
  optionalNumber,
  optionalSchema,
  textPart,
  textsIn,
} from "../opened_chat.ts";

/** Reads a request of messages. */
export function readMessages(body: JsonObject): OpenedChat {
  const opened = new OpenedMessages();
  for (const { role, content } of objectsIn(body.messages)) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content);
    if (role === "assistant") {
      const calls = blocks.filter(({ type }) => type === "tool_use").map((block: JsonObject) => ({
        id: textIn(block.id),
        name: textIn(block.name),
        input: JSON.stringify(block.input ?? {}),
      }));
      const text = blocks.filter(({ type }) => type === "text").map((block: JsonObject) => textIn(block.text)).join("");
      opened.assistant(text, calls, { protocol: "messages", value: content });
      continue;
    }
    for (const block of blocks as readonly JsonObject[]) {
      if (block.type !== "tool_result") continue;
      opened.result({ id: textIn(block.tool_use_id), text: textsIn(block.content) });
    }
    opened.user(blocks.filter(({ type }) => type !== "tool_result").map(partOf));
  }
  return {
    system: textsIn(body.system),
    temperature: optionalNumber(body.temperature),
    maxTokens: optionalNumber(body.max_tokens),
    tools: objectsIn(body.tools).filter((tool) => tool.input_schema !== undefined).map((tool) => ({
      name: textIn(tool.name),
      description: textIn(tool.description),
      parameters: objectIn(tool.input_schema),
    })),
    schema: optionalSchema(objectIn(objectIn(body.output_config).format).schema),
    messages: opened.messages,
  };
}

function partOf(block: JsonObject) {
  if (block.type !== "image" && block.type !== "document") return textPart(textIn(block.text));
  const { type, media_type: mediaType, data, url } = objectIn(block.source);
  if (type !== "base64") return textPart(textIn(data) || textIn(url));
  return fileIn(`data:${textIn(mediaType)};base64,${textIn(data)}`, textIn(block.title) || "picture");
}
