import { hasReference } from "../schema_rules.ts";
import { Buffer } from "node:buffer";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { isIssued } from "../../signatures.ts";
import { fieldOf, invalidFieldError, listIn } from "./google_fields.ts";

/**
 * Placeholders that clients may send if they have no signature. Source: Gemini API reference, "Thought signatures",
 * FAQ.
 */
const PLACEHOLDERS = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/**
 * Checks roles, payloads, pairs of calls and results, and signatures that the sandbox issued. Source: Gemini API
 * reference, "Content", "Function calling", "Thought signatures"; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkContents(value: unknown, model: string): void {
  const contents = listIn(value);
  if (contents.length === 0) throw invalidFieldError("contents", "contents is not specified");
  contents.forEach((content, at) => checkContent(content, at));
  const turns = turnsOf(contents);
  checkOrder(turns);
  if (!/gemini-[12]/.test(model)) checkSteps(turns);
}

function checkContent(content: JsonObject, at: number): void {
  const role = content.role ?? "user";
  if (role !== "user" && role !== "model" && role !== "function") {
    throw new SimulatedError(400, "Please use a valid role: user, model.");
  }
  const parts = listIn(content.parts);
  if (parts.length === 0) throw invalidFieldError(`contents[${at}].parts`, "contents.parts must not be empty.");
  parts.forEach((part, index) => checkPart(part, role, `contents[${at}].parts[${index}]`));
}

/**
 * The vendor's own chat client keeps each chunk of a stream as a content. Adjacent contents of the model are one
 * message.
 */
function turnsOf(contents: readonly JsonObject[]): JsonObject[] {
  const turns: JsonObject[] = [];
  for (const content of contents) {
    const before = turns.at(-1);
    if (content.role === "model" && before?.role === "model") {
      turns[turns.length - 1] = { ...before, parts: [...listIn(before.parts), ...listIn(content.parts)] };
    } else turns.push(content);
  }
  return turns;
}

const PAYLOADS = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];

function checkPart(part: JsonObject, role: string, path: string): void {
  const payloads = PAYLOADS.filter((name) => fieldOf(part, name) !== undefined);
  const signature = fieldOf(part, "thoughtSignature");
  // The vendor's streams end with an empty text, which its clients send back as the model's.
  const isBlank = part.text === "" && signature === undefined && role !== "model";
  if (payloads.length === 0 || isBlank) {
    throw invalidFieldError(`${path}.data`, "required oneof field 'data' must have one initialized field");
  }
  if (payloads.length > 1) {
    throw new SimulatedError(
      400,
      `Invalid value at '${path}' (oneof), oneof field 'data' is already set. Cannot set '${payloads[1]}'`,
    );
  }
  const inline = fieldOf(part, "inlineData");
  if (isObject(inline)) checkBlob(inline, path);
  const file = fieldOf(part, "fileData");
  if (isObject(file)) checkFile(file);
  for (const inner of [fieldOf(part, "functionCall"), fieldOf(part, "functionResponse")].filter(isObject)) {
    if (typeof inner.name !== "string" || inner.name === "") {
      throw invalidFieldError(`${path}.name`, "Name cannot be empty.");
    }
  }
  const answer = fieldOf(part, "functionResponse");
  const named = isObject(answer)
    ? listIn(answer.parts).flatMap((each) => Object.values(each)).filter(isObject).map((each) =>
      fieldOf(each, "displayName")
    )
    : [];
  if (isObject(answer) && hasReference(answer.response, named)) {
    throw invalidFieldError(`${path}.function_response.response`, "unresolved reference in '$ref'");
  }
  if (signature !== undefined) checkSignature(String(signature), path);
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function checkBlob(blob: JsonObject, path: string): void {
  if (typeof blob.data !== "string" || !BASE64.test(blob.data)) {
    throw new SimulatedError(400, `Invalid value at '${path}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`);
  }
  const mimeType = String(fieldOf(blob, "mimeType") ?? "");
  if (!/^(image|audio|video|text|application)\/[\w.+-]+$/.test(mimeType)) {
    throw new SimulatedError(400, `Unsupported MIME type: ${mimeType}`);
  }
}

/** Files must be in the vendor's own store or on YouTube. The vendor downloads nothing else. */
function checkFile(file: JsonObject): void {
  const uri = String(fieldOf(file, "fileUri") ?? "");
  const isKnown = uri.startsWith("gs://") || /^https:\/\/generativelanguage\.googleapis\.com\//.test(uri) ||
    /^https:\/\/((www|m)\.)?(youtube\.com|youtu\.be)\//.test(uri);
  if (!isKnown) throw new SimulatedError(400, `Invalid or unsupported file uri: ${uri}`);
}

function checkSignature(signature: string, path: string): void {
  if (!BASE64.test(signature)) {
    throw new SimulatedError(400, `Invalid value at '${path}.thought_signature' (TYPE_BYTES), Base64 decoding failed`);
  }
  if (isIssued("content", signature) || isPlaceholder(signature)) return;
  throw new SimulatedError(400, "Corrupted thought signature.");
}

function isPlaceholder(signature: string): boolean {
  return PLACEHOLDERS.includes(signature) || PLACEHOLDERS.includes(Buffer.from(signature, "base64").toString());
}

function countOf(content: JsonObject | undefined, name: string): number {
  return content === undefined ? 0 : listIn(content.parts).filter((part) => fieldOf(part, name) !== undefined).length;
}

/** A message with calls follows a user's message, and the next message contains the result of each call. */
function checkOrder(contents: readonly JsonObject[]): void {
  contents.forEach((content, at) => {
    const before = contents[at - 1];
    const calls = countOf(content, "functionCall");
    const answers = countOf(content, "functionResponse");
    if (calls > 0 && (before === undefined || before.role === "model")) {
      throw new SimulatedError(
        400,
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    if (answers > 0 && countOf(before, "functionCall") === 0) {
      throw new SimulatedError(
        400,
        "Please ensure that function response turn comes immediately after a function call turn.",
      );
    }
    if (calls > 0 && countOf(contents[at + 1], "functionResponse") !== calls) {
      throw new SimulatedError(
        400,
        "Please ensure that the number of function response parts is equal to the number of function call parts of the " +
          "function call turn.",
      );
    }
  });
}

/** In the running tool loop, the first call of every step has its signature. */
function checkSteps(contents: readonly JsonObject[]): void {
  const start = contents.findLastIndex((content) =>
    content.role !== "model" && countOf(content, "functionResponse") === 0
  );
  contents.slice(start + 1).forEach((content, offset) => {
    const first = listIn(content.parts).find((part) => fieldOf(part, "functionCall") !== undefined);
    if (first === undefined || fieldOf(first, "thoughtSignature") !== undefined) return;
    const call = fieldOf(first, "functionCall") as JsonObject;
    throw new SimulatedError(
      400,
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work " +
        "correctly, and missing thought_signature may lead to degraded model performance. Additional data, function " +
        `call \`default_api:${call.name}\` , position ${start + 2 + offset}.`,
    );
  });
}
