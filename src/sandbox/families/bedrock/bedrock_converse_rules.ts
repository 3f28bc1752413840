import { anthropicToolFault, enforcedFault } from "../schema_rules.ts";
import {
  isAbsent,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  parsedOrNull,
  textOf,
} from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isIssued, isIssuedFor } from "../../signatures.ts";
import { SimulatedError } from "../../simulated_error.ts";

/**
 * Rejects a request of Converse that the vendor rejects. Sources: Amazon Bedrock API reference, "Converse"; error
 * messages of the vendor.
 *
 * @throws {SimulatedError} 400.
 */
export function checkConverse(body: JsonObject): void {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw invalid(`Unexpected field ${unknown}`);
  const messages = objectsOf(body.messages);
  if (messages.length === 0) throw invalid("The messages field must have at least one message.");
  if (messages[0]?.role !== "user") throw invalid("A conversation must start with a user message.");
  messages.forEach((message, index) => checkMessage(message, messages[index - 1], `messages.${index}`));
  for (const { text, cachePoint } of objectsOf(body.system)) {
    if (isAbsent(cachePoint)) checkText(text, "system");
  }
  checkTools(body, messages);
  checkSettings(body);
  const documents = messages.flatMap(({ content }) => objectsOf(content)).flatMap(({ document }) =>
    isObject(document) ? [document.name] : []
  );
  if (new Set(documents).size < documents.length) throw invalid("Duplicate document names are not allowed.");
}

const FIELDS: ReadonlySet<string> = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "additionalModelRequestFields",
  "outputConfig",
  "requestMetadata",
  "serviceTier",
  "stream", // added from the path
]);
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const DOCUMENT_NAME = /^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,200}$/;
const FORMATS: Readonly<Record<string, RegExp>> = {
  image: /^(?:png|jpeg|gif|webp)$/,
  document: /^(?:pdf|csv|docx?|xlsx?|html|txt|md)$/,
  audio: /^(?:mp3|wav|flac|ogg|opus|aac|m4a|webm)$/,
  video: /^(?:mp4|webm|mov|mkv|flv|mpeg|wmv|three_gp)$/,
};

function checkMessage({ role, content }: JsonObject, before: JsonObject | undefined, path: string): void {
  if (role !== "user" && role !== "assistant") throw invalid(`${path}.role: invalid`);
  if (before?.role === role) throw invalid("A conversation must alternate between user and assistant roles.");
  const blocks = objectsOf(content);
  if (blocks.length === 0) throw invalid(`The content field in the Message object at ${path} is empty.`);
  for (const block of blocks) checkBlock(block, path);
  if (blocks.some(({ document }) => document) && !blocks.some(({ text }) => typeof text === "string")) {
    throw invalid("A document requires a text block in the same message.");
  }
  const calls = objectsOf(before?.content).flatMap(({ toolUse }) => isObject(toolUse) ? [toolUse.toolUseId] : []);
  const results = blocks.flatMap(({ toolResult }) => isObject(toolResult) ? [toolResult.toolUseId] : []);
  if (role === "user" && new Set(calls).symmetricDifference(new Set(results)).size > 0) {
    throw invalid(`Expected toolResult blocks at ${path}.content for the following Ids: ${calls.join(", ")}`);
  }
}

function checkBlock(block: JsonObject, path: string): void {
  const [kind = "", ...others] = Object.keys(block);
  if (others.length > 0) throw invalid(`${path}: a block must have exactly one member`);
  const value = objectOf(block[kind]);
  switch (kind) {
    case "text":
      return checkText(block.text, path);
    case "cachePoint":
      if (value?.type !== "default") throw invalid(`${path}.cachePoint.type: invalid`);
      return;
    case "toolUse":
      if (!ID.test(textOf(value?.toolUseId)) || !ID.test(textOf(value?.name)) || !isObject(value?.input)) {
        throw invalid(`${path}.toolUse: invalid`);
      }
      return;
    case "toolResult":
      if (!ID.test(textOf(value?.toolUseId)) || !Array.isArray(value?.content)) {
        throw invalid(`${path}.toolResult: invalid`);
      }
      for (const inner of objectsOf(value.content)) checkBlock(inner, path);
      return;
    case "reasoningContent":
      return checkReasoning(value ?? {}, path);
    default:
      return checkMedium(kind, value ?? {}, path);
  }
}

function checkText(text: unknown, path: string): void {
  if (typeof text !== "string" || text.trim() === "") {
    throw invalid(`The text field in the ContentBlock object at ${path} is blank.`);
  }
}

function checkReasoning({ reasoningText, redactedContent }: JsonObject, path: string): void {
  const { text, signature } = objectOf(reasoningText) ?? {};
  const isValid = isObject(reasoningText)
    ? isIssuedFor("converse", textOf(signature), textOf(text))
    : isIssued("converse", textOf(redactedContent));
  if (!isValid) throw invalid(`${path}: Invalid signature in reasoning block`);
}

function checkMedium(kind: string, { format, name, source }: JsonObject, path: string): void {
  if (FORMATS[kind]?.test(textOf(format)) !== true) throw invalid(`${path}.${kind}.format: invalid`);
  const bytes = objectOf(source)?.bytes;
  if (typeof bytes !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(bytes)) {
    throw invalid(`${path}.${kind}.source: invalid`);
  }
  if (kind === "document" && !DOCUMENT_NAME.test(textOf(name))) throw invalid(`${path}.document.name: invalid`);
}

function checkTools({ toolConfig }: JsonObject, messages: readonly JsonObject[]): void {
  const usesTools = messages.flatMap(({ content }) => objectsOf(content))
    .some(({ toolUse, toolResult }) => toolUse !== undefined || toolResult !== undefined);
  if (!isObject(toolConfig)) {
    if (!usesTools) return;
    throw invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.");
  }
  const specs = objectsOf(toolConfig.tools).map(({ toolSpec }) => objectOf(toolSpec) ?? {});
  if (specs.length === 0) throw invalid("toolConfig.tools: expected at least 1");
  for (const { name, description, inputSchema, strict } of specs) {
    if (!ID.test(textOf(name)) || description === "") throw invalid("toolConfig.tools.toolSpec: invalid");
    if (objectOf(objectOf(inputSchema)?.json)?.type !== "object") {
      throw invalid('toolConfig.tools.toolSpec.inputSchema.json.type must be "object"');
    }
    const schema = objectOf(objectOf(inputSchema)?.json) ?? {};
    const fault = anthropicToolFault(schema) ?? (strict === true ? enforcedFault(schema) : null);
    if (fault !== null) throw invalid(`toolConfig.tools.toolSpec.inputSchema.json: ${fault}`);
  }
  const choice = objectOf(toolConfig.toolChoice);
  const named = objectOf(choice?.tool)?.name;
  if (named !== undefined && !specs.some(({ name }) => name === named)) throw invalid("toolChoice.tool.name: unknown");
}

function checkSettings({ inferenceConfig, outputConfig, requestMetadata, serviceTier }: JsonObject): void {
  const { maxTokens, temperature, topP, stopSequences } = objectOf(inferenceConfig) ?? {};
  if (!isAbsent(maxTokens) && !(Number.isInteger(maxTokens) && Number(maxTokens) >= 1)) {
    throw invalid("inferenceConfig.maxTokens: invalid");
  }
  for (const share of [temperature, topP]) {
    if (!isAbsent(share) && !(Number(share) >= 0 && Number(share) <= 1)) throw invalid("inferenceConfig: out of range");
  }
  if (listOf(stopSequences).includes("")) throw invalid("inferenceConfig.stopSequences: invalid");
  const schema = objectOf(objectOf(objectOf(objectOf(outputConfig)?.textFormat)?.structure)?.jsonSchema)?.schema;
  if (schema !== undefined && !isObject(parsedOrNull(textOf(schema)))) throw invalid("outputConfig: invalid schema");
  const fault = schema === undefined ? null : enforcedFault(objectOf(parsedOrNull(textOf(schema))) ?? {});
  if (fault !== null) throw invalid(`outputConfig: ${fault}`);
  const isText = Object.values(objectOf(requestMetadata) ?? {}).every((value) => typeof value === "string");
  if (!isText) throw invalid("requestMetadata: invalid");
  const tier = objectOf(serviceTier)?.type;
  if (tier !== undefined && !/^(?:default|flex|priority|reserved)$/.test(textOf(tier))) {
    throw invalid("serviceTier: invalid");
  }
}

function invalid(message: string): SimulatedError {
  return new SimulatedError(400, message, { code: "ValidationException" });
}
