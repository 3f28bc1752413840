import {
  type Conversation,
  NO_SAMPLING,
  type OutputFormat,
  type Part,
  type ReasoningRequest,
  type TextPart,
  type Tool,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
} from "../../../conversation/neutral/conversation.ts";
import { inputOf } from "../../../conversation/parts/request/call_input.ts";
import { EFFORTS } from "../../../conversation/neutral/conversation.ts";
import {
  isObject,
  listOf,
  numberOrNull,
  objectOf,
  objectsOf,
  parsedOrNull,
  textOf,
  textOrNull,
} from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/** Reads a request of Converse that the vendor's rules allow. */
export function readConverse(body: JsonObject): Conversation {
  const { inferenceConfig, toolConfig, outputConfig } = body;
  const settings = objectOf(inferenceConfig) ?? {};
  const tools = objectOf(toolConfig) ?? {};
  const names = callNamesIn(body);
  return {
    model: "",
    instructions: marked(objectsOf(body.system), (block) => readText(block)) as TextPart[],
    turns: objectsOf(body.messages).map((message) => readTurn(message, names)),
    tools: objectsOf(tools.tools).flatMap(({ toolSpec }) => isObject(toolSpec) ? [readTool(toolSpec)] : []),
    toolChoice: readChoice(objectOf(tools.toolChoice)),
    parallelToolCalls: null,
    outputFormat: readFormat(objectOf(outputConfig)),
    maxOutputTokens: numberOrNull(settings.maxTokens),
    sampling: {
      ...NO_SAMPLING,
      temperature: numberOrNull(settings.temperature),
      topP: numberOrNull(settings.topP),
      stop: listOf(settings.stopSequences).map(textOf),
    },
    reasoning: readReasoning(objectOf(body.additionalModelRequestFields) ?? {}),
    stream: body.stream === true,
    user: null,
    cacheKey: null,
    verbosity: null,
    unsupportedFields: [],
  };
}

function readTurn({ role, content }: JsonObject, names: ReadonlyMap<string, string>): Turn {
  return {
    role: role === "assistant" ? "assistant" : "user",
    parts: marked(objectsOf(content), (block) => readPart(block, names)),
  };
}

/** The parts of blocks. A mark belongs to the part before it. */
function marked(blocks: readonly JsonObject[], read: (block: JsonObject) => Part | null): Part[] {
  const parts: Part[] = [];
  for (const block of blocks) {
    const last = parts.at(-1);
    if (isObject(block.cachePoint)) {
      if (last !== undefined) parts[parts.length - 1] = { ...last, cache: { ttl: null } } as Part;
      continue;
    }
    const part = read(block);
    if (part !== null) parts.push(part);
  }
  return parts;
}

function readText({ text }: JsonObject): TextPart | null {
  return typeof text === "string" ? { kind: "text", text } : null;
}

function readPart(block: JsonObject, names: ReadonlyMap<string, string>): Part | null {
  const { image, document, audio, video, reasoningContent, toolUse, toolResult } = block;
  if (isObject(image)) return { kind: "image", source: sourceOf(image, "image") };
  if (isObject(document)) {
    return { kind: "file", source: sourceOf(document, "application"), name: textOrNull(document.name) };
  }
  if (isObject(audio)) return { kind: "audio", source: sourceOf(audio, "audio") };
  if (isObject(video)) return { kind: "video", source: sourceOf(video, "video") };
  if (isObject(reasoningContent)) return { kind: "reasoning", text: textIn(reasoningContent) };
  if (isObject(toolUse)) {
    return {
      kind: "tool_call",
      callId: textOf(toolUse.toolUseId),
      tool: textOf(toolUse.name),
      input: inputOf(toolUse.input),
    };
  }
  return isObject(toolResult) ? readResult(toolResult, names) : readText(block);
}

function textIn({ reasoningText }: JsonObject): string {
  return textOf(objectOf(reasoningText)?.text);
}

function readResult({ toolUseId, content, status }: JsonObject, names: ReadonlyMap<string, string>): ToolResultPart {
  const callId = textOf(toolUseId);
  const parts = marked(objectsOf(content), (block) => readPart(block, names));
  return {
    kind: "tool_result",
    callId,
    tool: names.get(callId) ?? null,
    parts: parts.filter((part) => part.kind === "text" || part.kind === "image" || part.kind === "file"),
    isError: status === "error",
  };
}

function callNamesIn(body: JsonObject): ReadonlyMap<string, string> {
  const blocks = objectsOf(body.messages).flatMap(({ content }) => objectsOf(content));
  return new Map(
    blocks.flatMap(({ toolUse }) =>
      isObject(toolUse) ? [[textOf(toolUse.toolUseId), textOf(toolUse.name)] as const] : []
    ),
  );
}

function sourceOf({ format, source }: JsonObject, family: string) {
  return { kind: "base64", mediaType: `${family}/${format}`, data: textOf(objectOf(source)?.bytes) } as const;
}

function readTool({ name, description, inputSchema, strict }: JsonObject): Tool {
  return {
    kind: "function",
    name: textOf(name),
    description: textOrNull(description),
    parameters: objectOf(objectOf(inputSchema)?.json),
    strict: strict === true ? true : null,
  };
}

function readChoice(choice: JsonObject | null): ToolChoice | null {
  if (choice === null) return null;
  if (isObject(choice.any)) return { kind: "required" };
  if (isObject(choice.tool)) return { kind: "tool", tool: textOf(choice.tool.name) };
  return { kind: "auto" };
}

function readFormat(config: JsonObject | null): OutputFormat | null {
  const definition = objectOf(objectOf(objectOf(config?.textFormat)?.structure)?.jsonSchema);
  const schema = parsedOrNull(textOf(definition?.schema));
  if (definition === null || !isObject(schema)) return null;
  const description = textOrNull(definition.description);
  return { kind: "json_schema", name: textOf(definition.name), description, schema, strict: null };
}

function readReasoning({ reasoningConfig, reasoning_effort }: JsonObject): ReasoningRequest | null {
  const config = objectOf(reasoningConfig);
  const wanted = config?.type === "disabled" ? "none" : config?.maxReasoningEffort ?? reasoning_effort;
  const effort = EFFORTS.find((each) => each === wanted);
  return effort === undefined ? null : { effort, budgetTokens: null, visible: null };
}
