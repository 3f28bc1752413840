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

/** Reads a request of generate content, in the spelling that the official clients send. */
export function readContent(body: JsonObject): OpenedChat {
  const opened = new OpenedMessages();
  for (const { role, parts: sent } of objectsIn(body.contents)) {
    const parts = objectsIn(sent);
    if (role === "model") {
      const calls = parts.filter((part) => part.functionCall).map(({ functionCall }, place) => {
        const { id, name, args } = objectIn(functionCall);
        return { id: textIn(id) || `call_${place + 1}`, name: textIn(name), input: JSON.stringify(args ?? {}) };
      });
      opened.assistant(textsIn(parts.filter(({ thought }) => thought !== true)), calls, {
        protocol: "content",
        value: sent,
      });
      continue;
    }
    for (const [place, part] of parts.filter((each) => each.functionResponse).entries()) {
      const { id, name, response } = objectIn(part.functionResponse);
      opened.result(
        { id: textIn(id) || `call_${place + 1}`, text: JSON.stringify(response ?? {}) },
        textIn(name),
      );
    }
    opened.user(parts.filter((part) => !part.functionResponse).map(partOf));
  }
  const config = objectIn(body.generationConfig);
  return {
    system: textsIn(objectIn(body.systemInstruction).parts),
    temperature: optionalNumber(config.temperature),
    maxTokens: optionalNumber(config.maxOutputTokens),
    tools: objectsIn(body.tools).flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations)).map((tool) => ({
      name: textIn(tool.name),
      description: textIn(tool.description),
      parameters: objectIn(tool.parametersJsonSchema ?? tool.parameters),
    })),
    schema: optionalSchema(config.responseJsonSchema ?? config.responseSchema),
    messages: opened.messages,
  };
}

function partOf(part: JsonObject) {
  const { mimeType, data } = objectIn(part.inlineData);
  return typeof data === "string"
    ? fileIn(`data:${textIn(mimeType)};base64,${data}`, "file")
    : textPart(textIn(part.text) || textIn(objectIn(part.fileData).fileUri));
}
