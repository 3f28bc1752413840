import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { camelCaseOf } from "../../../contract/request_walk.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";
import { field, listIn, spellingOf } from "../shared/fields.ts";
import { expectedNames, type Fields } from "../../../contract/unread_fields.ts";

const BYTES: Fields = { mimeType: true, data: true, displayName: true };
const FILE: Fields = { mimeType: true, fileUri: true, displayName: true };

const PART: Fields = {
  text: true,
  thought: true,
  thoughtSignature: true,
  inlineData: BYTES,
  fileData: FILE,
  functionCall: { id: true, name: true, args: true },
  functionResponse: {
    id: true,
    name: true,
    response: true,
    parts: [{ inlineData: BYTES, fileData: FILE }],
  },
  mediaResolution: { level: true },
};

/** The fields that the request reader reads, in camel case; all others are reported as dropped. */
export const REQUEST_SHAPE: Fields = {
  // Set from the path.
  model: true,
  stream: true,
  contents: [{ role: true, parts: [PART] }],
  systemInstruction: { role: true, parts: [{ text: true }] },
  // Tools run by the vendor are reported by their reader.
  tools: true,
  toolConfig: {
    functionCallingConfig: { mode: true, allowedFunctionNames: true },
    // Searches of other formats are returned as grounding, without parts for their calls.
    includeServerSideToolInvocations: (value) => value === false,
  },
  generationConfig: {
    temperature: true,
    topP: true,
    topK: true,
    candidateCount: true,
    maxOutputTokens: true,
    stopSequences: true,
    seed: true,
    presencePenalty: true,
    frequencyPenalty: true,
    responseMimeType: true,
    responseSchema: true,
    responseJsonSchema: true,
    responseFormat: [{ text: { mimeType: true, schema: true } }],
    responseModalities: true,
    responseLogprobs: true,
    logprobs: true,
    thinkingConfig: { includeThoughts: true, thinkingBudget: true, thinkingLevel: true },
    mediaResolution: true,
  },
  // The gateway puts its contents before the conversation.
  cachedContent: true,
  serviceTier: true,
  store: (value) => value === false,
  labels: true,
  // Without effect in this format. Source: docs/api/routing.md#pin.
  extraBody: true,
};

/** What a part or a tool can be: the names of its members. */
interface Members {
  /** Those that a translation reads, for messages. */
  readonly read: readonly string[];
  /** All others of the format. */
  readonly others: ReadonlySet<string>;
}

/** Payloads of a part; one with only a modifier, such as `thought`, has none. Source: official client, `Part`. */
const PAYLOADS: Members = {
  read: ["text", "inlineData", "fileData", "functionCall", "functionResponse"],
  others: new Set(["audioTranscription", "codeExecutionResult", "executableCode", "toolCall", "toolResponse"]),
};

const MODIFIERS: ReadonlySet<string> = new Set([
  "mediaProcessing",
  "mediaResolution",
  "partMetadata",
  "speechMetadata",
  "thought",
  "thoughtSignature",
  "videoMetadata",
]);

/** Source: official client, `FunctionResponsePart`. */
const RESULT_PAYLOADS: Members = { read: ["inlineData", "fileData"], others: new Set() };

/** Source: official client, `Tool`. */
const TOOLS: Members = {
  read: ["functionDeclarations", "googleSearch"],
  others: new Set([
    "codeExecution",
    "computerUse",
    "enterpriseWebSearch",
    "exaAiSearch",
    "fileSearch",
    "googleMaps",
    "googleSearchRetrieval",
    "mcpServers",
    "parallelAiSearch",
    "retrieval",
    "urlContext",
  ]),
};

/**
 * Refuses parts and tools that the format does not have: their only members are unknown, in either spelling.
 *
 * @throws {GatewayError} `invalid_request` that names the member: `contents[0].parts[1].txt`.
 */
export function refuseUnknownTypes(body: JsonObject): void {
  listIn(body.contents)?.forEach((content, index) => refuseParts(content, `contents[${index}]`));
  refuseParts(field(body, "systemInstruction"), spellingOf(body, "systemInstruction"));
  refuseAll(body.tools, "tools", TOOLS);
}

function refuseParts(content: unknown, path: string): void {
  if (!isObject(content)) return;
  refuseAll(content.parts, `${path}.parts`, PAYLOADS);
  listIn(content.parts)?.forEach((part, index) => {
    if (!isObject(part)) return;
    const response = field(part, "functionResponse");
    if (!isObject(response)) return;
    const at = `${path}.parts[${index}].${spellingOf(part, "functionResponse")}.parts`;
    refuseAll(response.parts, at, RESULT_PAYLOADS);
  });
}

function refuseAll(list: unknown, path: string, members: Members): void {
  listIn(list)?.forEach((object, index) => {
    const unknown = isObject(object) ? unknownMember(object, members) : null;
    if (unknown !== null) {
      throw invalidField(`${path}[${index}].${unknown}`, expectedNames(members.read, unknown));
    }
  });
}

/** The first unknown member of an object without a known one; null if it has one, or nothing at all. */
function unknownMember(object: JsonObject, { read, others }: Members): string | null {
  let unknown: string | null = null;
  for (const key in object) {
    if (isAbsent(object[key])) continue;
    const name = camelCaseOf(key);
    if (read.includes(name) || others.has(name)) return null;
    if (!MODIFIERS.has(name)) unknown ??= key;
  }
  return unknown;
}
