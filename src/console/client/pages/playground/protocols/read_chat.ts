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

/** Reads a request of chat completions. */
export function readChat(body: JsonObject): OpenedChat {
  const opened = new OpenedMessages();
  const system: string[] = [];
  for (const message of objectsIn(body.messages)) {
    const { role, content } = message;
    if (role === "system" || role === "developer") system.push(textsIn(content));
    else if (role === "tool") opened.result({ id: textIn(message.tool_call_id), text: textsIn(content) });
    else if (role === "assistant") {
      const calls = objectsIn(message.tool_calls).map(({ id, function: called }) => {
        const { name, arguments: input } = objectIn(called);
        return { id: textIn(id), name: textIn(name), input: textIn(input) };
      });
      opened.assistant(textsIn(content), calls, { protocol: "chat", value: message });
    } else opened.user(typeof content === "string" ? [textPart(content)] : objectsIn(content).map(partOf));
  }
  return {
    system: system.join("\n\n"),
    temperature: optionalNumber(body.temperature),
    maxTokens: optionalNumber(body.max_completion_tokens) ?? optionalNumber(body.max_tokens),
    tools: objectsIn(body.tools).filter(({ type }) => type === "function").map(({ function: tool }) => {
      const { name, description, parameters } = objectIn(tool);
      return { name: textIn(name), description: textIn(description), parameters: objectIn(parameters) };
    }),
    schema: optionalSchema(objectIn(objectIn(body.response_format).json_schema).schema),
    messages: opened.messages,
  };
}

function partOf(part: JsonObject) {
  const { data, format } = objectIn(part.input_audio);
  const { filename, file_data: file } = objectIn(part.file);
  if (part.type === "image_url") return fileIn(textIn(objectIn(part.image_url).url), "picture");
  if (part.type === "input_audio") return fileIn(`data:audio/${textIn(format)};base64,${textIn(data)}`, "recording");
  return part.type === "file" ? fileIn(textIn(file), textIn(filename)) : textPart(textIn(part.text));
}
