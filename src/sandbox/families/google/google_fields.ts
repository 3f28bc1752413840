import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";

/**
 * The messages of the API. Each has its fields and, after a colon, the message that a field contains. A field without
 * one is not validated. `{}` marks a map. Lists are not marked: protobuf's JSON mapping accepts a single value for a
 * list of one. Source: Gemini API reference, version v1beta.
 */
const MESSAGES: Readonly<Record<string, string>> = {
  GenerateContentRequest: "model contents:Content systemInstruction:Content tools:Tool toolConfig:ToolConfig " +
    "generationConfig:GenerationConfig safetySettings:SafetySetting cachedContent serviceTier store " +
    "continuationToken labels",
  CachedContent:
    "name model contents:Content systemInstruction:Content tools:Tool toolConfig:ToolConfig ttl expireTime " +
    "displayName createTime updateTime usageMetadata",
  CountTokensRequest: "contents:Content generateContentRequest:GenerateContentRequest",
  EmbedContentRequest: "model content:Content taskType title outputDimensionality",
  BatchEmbedContentsRequest: "requests:EmbedContentRequest",
  Content: "role parts:Part",
  Part: "text thought thoughtSignature inlineData:Blob fileData:FileData functionCall:FunctionCall " +
    "functionResponse:FunctionResponse executableCode codeExecutionResult toolCall toolResponse videoMetadata " +
    "mediaResolution partMetadata mediaProcessing speechMetadata audioTranscription",
  Blob: "mimeType data displayName",
  FileData: "mimeType fileUri displayName",
  FunctionCall: "id name args partialArgs willContinue",
  FunctionResponse: "id name response parts:FunctionResponsePart scheduling willContinue",
  FunctionResponsePart: "inlineData:Blob fileData:FileData mediaProcessing",
  Tool: "functionDeclarations:FunctionDeclaration googleSearch googleSearchRetrieval codeExecution urlContext " +
    "googleMaps computerUse fileSearch mcpServers",
  FunctionDeclaration: "name description behavior parameters:Schema parametersJsonSchema response:Schema " +
    "responseJsonSchema",
  ToolConfig: "functionCallingConfig:FunctionCallingConfig retrievalConfig includeServerSideToolInvocations",
  FunctionCallingConfig: "mode allowedFunctionNames streamFunctionCallArguments",
  GenerationConfig: "temperature topP topK candidateCount maxOutputTokens stopSequences seed presencePenalty " +
    "frequencyPenalty responseLogprobs logprobs responseMimeType responseSchema:Schema responseJsonSchema responseFormat " +
    "responseModalities thinkingConfig:ThinkingConfig mediaResolution speechConfig imageConfig routingConfig " +
    "audioTimestamp audioTranscriptionConfig enableEnhancedCivicAnswers enableAffectiveDialog modelSelectionConfig",
  ThinkingConfig: "includeThoughts thinkingBudget thinkingLevel",
  SafetySetting: "category threshold method",
  Schema: "type format title description nullable enum items:Schema minItems maxItems properties:Schema{} required " +
    "minProperties maxProperties minLength maxLength pattern example anyOf:Schema propertyOrdering default minimum maximum",
};

/** A field's message, `null` if it is not validated. */
interface FieldKind {
  readonly message: string | null;
  readonly isMap: boolean;
}

const FIELDS = new Map(Object.entries(MESSAGES).map(([message, fields]) => [message, fieldsOf(fields)]));

function fieldsOf(spec: string): Map<string, FieldKind> {
  const fields = new Map<string, FieldKind>();
  for (const entry of spec.split(" ")) {
    const [name = entry, message = null] = entry.split(":");
    const kind = { message: message?.replace("{}", "") ?? null, isMap: message?.endsWith("{}") ?? false };
    fields.set(name, kind);
    fields.set(snakeCaseOf(name), kind);
  }
  return fields;
}

function snakeCaseOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

interface Fault {
  readonly field: string;
  readonly description: string;
}

/**
 * Rejects unknown fields at any depth, as protobuf's JSON mapping does. Both spellings of a name are valid.
 *
 * @param message `GenerateContentRequest`, `CountTokensRequest` or `CachedContent`.
 * @throws {SimulatedError} Naming every such field.
 */
export function checkFields(body: JsonObject, message: string): void {
  const faults: Fault[] = [];
  walkObject(body, message, "", faults);
  if (faults.length === 0) return;
  const text = faults.map(({ description }) => description).join("\n");
  throw new SimulatedError(400, text, { violations: faults });
}

function walk(value: unknown, message: string, path: string, faults: Fault[]): void {
  if (isAbsent(value)) return;
  if (Array.isArray(value)) value.forEach((item, index) => walk(item, message, `${path}[${index}]`, faults));
  else if (isObject(value)) walkObject(value, message, path, faults);
  else {
    const description =
      `Invalid value at '${path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.${message})`;
    faults.push({ field: path, description });
  }
}

function walkObject(object: JsonObject, message: string, path: string, faults: Fault[]): void {
  const fields = FIELDS.get(message)!;
  for (const [name, value] of Object.entries(object)) {
    const kind = fields.get(name);
    const inner = path === "" ? snakeCaseOf(name) : `${path}.${snakeCaseOf(name)}`;
    if (kind === undefined) {
      const at = path === "" ? "" : ` at '${path}'`;
      const description = `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;
      faults.push({ field: path, description });
    } else if (kind.isMap && isObject(value)) {
      for (const [key, item] of Object.entries(value)) walk(item, kind.message!, `${inner}[${key}]`, faults);
    } else if (kind.message !== null) {
      walk(value, kind.message, inner, faults);
    }
  }
}

/** Returns a field in either spelling, or undefined if it is absent or null. */
export function fieldOf(object: JsonObject, name: string): unknown {
  return object[name] ?? object[snakeCaseOf(name)] ?? undefined;
}

/** Returns a value as a list of objects. A single object is a list of one. */
export function listIn(value: unknown): JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}

/** Creates the error of one field, in the vendor's wording. */
export function invalidFieldError(path: string, message: string): SimulatedError {
  return new SimulatedError(400, `* GenerateContentRequest.${path}: ${message}\n`);
}
