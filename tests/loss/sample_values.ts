import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";

/** An image of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = "JVBERi0xLjQ=";
const SCHEMA = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};

/** Valid values of text parameters, by name. */
const TEXTS: Readonly<Record<string, string>> = {
  model: "acme/m",
  name: "look",
  arguments: '{"a":1}',
  id: "call_1",
  call_id: "call_1",
  tool_call_id: "call_1",
  tool_use_id: "call_1",
  role: "user",
  url: `data:image/png;base64,${PNG}`,
  image_url: `data:image/png;base64,${PNG}`,
  file_data: `data:application/pdf;base64,${PDF}`,
  file_url: "https://files.example/a.pdf",
  fileUri: "https://files.example/a.png",
  data: PNG,
  filename: "a.pdf",
  mimeType: "image/png",
  signature: "c2lnbmF0dXJl",
  thoughtSignature: "c2lnbmF0dXJl",
  responseMimeType: "application/json",
};

const NUMBERS: Readonly<Record<string, number>> = {
  temperature: 0.5,
  top_p: 0.4,
  topP: 0.4,
  presence_penalty: 0.5,
  presencePenalty: 0.5,
  frequency_penalty: 0.5,
  frequencyPenalty: 0.5,
  max_tokens: 2000,
  max_completion_tokens: 2000,
  max_output_tokens: 2000,
  maxOutputTokens: 2000,
  budget_tokens: 1024,
  thinkingBudget: 1024,
};

/** An entry in a list of allowed tools. */
const ALLOWED = { type: "function", name: "look", function: { name: "look" } };

const OTHERS: Readonly<Record<string, unknown>> = {
  metadata: { a: "b" },
  labels: { a: "b" },
  logit_bias: { "50": 1 },
  parameters: SCHEMA,
  schema: SCHEMA,
  input_schema: SCHEMA,
  output_schema: SCHEMA,
  parametersJsonSchema: SCHEMA,
  responseJsonSchema: SCHEMA,
  responseSchema: { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] },
  args: { a: 1 },
  input: { a: 1 },
  response: { output: "done" },
  tools: ALLOWED,
};

/** A text for a parameter. */
export function sampleText(name: string, format: CallerFormatName): string {
  // In chat, inline data is also a URL.
  if (name === "url" && format !== "chat") return "https://files.example/a.png";
  return TEXTS[name] ?? `some ${name}`;
}

const IMAGE = { image_url: TEXTS.image_url };
const DOCUMENT = { file_data: TEXTS.file_data, filename: "a.pdf" };
const BYTES = { mimeType: "image/png", data: PNG };
const FILE = { mimeType: "image/png", fileUri: TEXTS.fileUri };

/** Members that the client's types declare optional and every vendor requires, by type. */
export const NEEDED: Readonly<Record<CallerFormatName, Readonly<Record<string, JsonObject>>>> = {
  chat: { File_2: DOCUMENT },
  responses: {
    FunctionCallOutput: { call_id: "call_1" },
    ResponseInputImage: IMAGE,
    ResponseInputImageContent: IMAGE,
    ResponseInputFile: DOCUMENT,
    ResponseInputFileContent: DOCUMENT,
  },
  messages: { BetaSystemMessageParam: { content: "Be brief" } },
  content: {
    Content: { role: "user", parts: [{ text: "Hi" }] },
    Part: { inlineData: BYTES },
    Blob_2: BYTES,
    FunctionResponseBlob: BYTES,
    FileData: FILE,
    FunctionResponseFileData: FILE,
    FunctionCall: { name: "look" },
    FunctionResponse: { name: "look", response: { output: "done" } },
    FunctionResponsePart: { inlineData: BYTES },
    FunctionDeclaration: { name: "look" },
  },
};

/** A number for a parameter. */
export function sampleNumber(name: string): number {
  return NUMBERS[name] ?? 3;
}

/** An object for a parameter with free members. */
export function sampleOther(name: string): unknown {
  return OTHERS[name] ?? { a: "b" };
}

/** Parameters that only link places in a request; they are tested as the pair that they form. */
export const LINKS: ReadonlySet<string> = new Set(["id", "call_id", "tool_call_id", "tool_use_id", "model"]);

/** Elements before a sample in a list of this name, so that the list is valid without the sample. */
const BEFORE: Readonly<Record<CallerFormatName, Readonly<Record<string, JsonObject>>>> = {
  chat: {
    messages: { role: "user", content: "Hello" },
    content: { type: "text", text: "Hello" },
    tools: { type: "function", function: { name: "first", parameters: SCHEMA } },
  },
  responses: {
    input: { type: "message", role: "user", content: "Hello" },
    content: { type: "input_text", text: "Hello" },
    output: { type: "input_text", text: "Hello" },
    tools: { type: "function", name: "first", parameters: SCHEMA, strict: false },
  },
  messages: {
    messages: { role: "user", content: "Hello" },
    content: { type: "text", text: "Hello" },
    tools: { name: "first", input_schema: SCHEMA },
  },
  content: {
    contents: { role: "user", parts: [{ text: "Hello" }] },
    parts: { text: "Hello" },
    functionDeclarations: { name: "first", parametersJsonSchema: SCHEMA },
  },
};

/** Elements before a sample in the list of a member. */
export function elementsBefore(format: CallerFormatName, name: string): readonly JsonObject[] {
  const element = BEFORE[format][name];
  return element === undefined ? [] : [element];
}
