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

/** Reads a request of responses. Reasoning of earlier answers is left out. */
export function readResponses(body: JsonObject): OpenedChat {
  const opened = new OpenedMessages();
  const system = [textIn(body.instructions)];
  if (typeof body.input === "string") opened.user([textPart(body.input)]);
  for (const item of objectsIn(body.input)) {
    const { type = "message", role, content, call_id: id } = item;
    if (type === "function_call") {
      opened.call({ id: textIn(id), name: textIn(item.name), input: textIn(item.arguments) });
    } else if (type === "function_call_output") {
      opened.result({ id: textIn(id), text: textsIn(item.output) });
    } else if (type !== "message") continue;
    else if (role === "system" || role === "developer") system.push(textsIn(content));
    else if (role === "assistant") opened.assistant(textsIn(content), [], null);
    else opened.user(typeof content === "string" ? [textPart(content)] : objectsIn(content).map(partOf));
  }
  return {
    system: system.filter((text) => text !== "").join("\n\n"),
    temperature: optionalNumber(body.temperature),
    maxTokens: optionalNumber(body.max_output_tokens),
    tools: objectsIn(body.tools).filter(({ type }) => type === "function").map((tool) => ({
      name: textIn(tool.name),
      description: textIn(tool.description),
      parameters: objectIn(tool.parameters),
    })),
    schema: optionalSchema(objectIn(objectIn(body.text).format).schema),
    messages: opened.messages,
  };
}

function partOf(part: JsonObject) {
  if (part.type === "input_image") return fileIn(textIn(part.image_url), "picture");
  if (part.type === "input_file") return fileIn(textIn(part.file_data), textIn(part.filename));
  return textPart(textIn(part.text));
}
