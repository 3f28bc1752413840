import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { checkSettings } from "./check_settings.ts";
import { rejectDoubleSpellings } from "./double_spellings.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";
import { field, listIn, spellingOf } from "../shared/fields.ts";

/** The calls so far, to check that every response belongs to a call. */
interface Calls {
  readonly ids: Set<string>;
  readonly names: Set<string>;
}

/**
 * Checks the rules that hold for every vendor of this format; see `CallerFormat.check`. A null field counts as absent.
 * Pairs and names are not checked when a cached content may hold the other part.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkRequest(body: JsonObject): void {
  if (!isObject(body)) throw invalidField("body", "expected an object");
  rejectDoubleSpellings(body);
  if (body.stream !== undefined && typeof body.stream !== "boolean") throw invalidField("stream", "expected a boolean");
  const cached = field(body, "cachedContent");
  if (cached !== undefined && typeof cached !== "string") {
    throw invalidField(spellingOf(body, "cachedContent"), "expected a string");
  }
  checkContents(body.contents, cached !== undefined);
  checkInstruction(body);
  checkSettings(body, cached !== undefined);
}

function checkContents(value: unknown, hasCache: boolean): void {
  const contents = listIn(value);
  if (contents === null) throw invalidField("contents", "expected an array of contents");
  if (contents.length === 0) throw invalidField("contents", "expected at least one content");
  let calls: Calls | null = null;
  for (let at = 0; at < contents.length; at++) {
    const content: unknown = contents[at];
    const path = `contents[${at}]`;
    if (!isObject(content)) throw invalidField(path, "expected an object with parts");
    const role = content.role ?? "user";
    if (role !== "user" && role !== "model" && role !== "function" && role !== "") {
      throw invalidField(`${path}.role`, `expected "user" or "model"`);
    }
    // A reply that spent its limit on reasoning has no parts, and clients send it back unchanged.
    if (isAbsent(content.parts) && role === "model") continue;
    const parts = listIn(content.parts);
    if (parts === null) throw invalidField(`${path}.parts`, "expected an array of parts");
    if (parts.length === 0 && role !== "model") throw invalidField(`${path}.parts`, "expected at least one part");
    for (let index = 0; index < parts.length; index++) {
      calls = checkPart(parts[index], `${path}.parts[${index}]`, calls, hasCache);
    }
  }
}

function checkPart(part: unknown, path: string, calls: Calls | null, hasCache: boolean): Calls | null {
  if (!isObject(part)) throw invalidField(path, "expected an object");
  const text = part.text ?? undefined;
  if (text !== undefined) {
    if (typeof text !== "string") throw invalidField(`${path}.text`, "expected a string");
    return calls;
  }
  const inline = field(part, "inlineData");
  if (inline !== undefined) {
    checkInlineData(inline, `${path}.${spellingOf(part, "inlineData")}`);
    return calls;
  }
  const call = field(part, "functionCall");
  if (call !== undefined) return checkCall(call, `${path}.${spellingOf(part, "functionCall")}`, calls);
  const response = field(part, "functionResponse");
  if (response !== undefined) {
    checkResponse(response, `${path}.${spellingOf(part, "functionResponse")}`, calls, hasCache);
    return calls;
  }
  const file = field(part, "fileData");
  if (file !== undefined) checkFileData(file, `${path}.${spellingOf(part, "fileData")}`);
  return calls;
}

function checkInlineData(data: unknown, path: string): void {
  if (!isObject(data)) throw invalidField(path, "expected an object with mimeType and data");
  const mimeType = field(data, "mimeType");
  if (typeof mimeType !== "string" || !/^[\w.+-]+\/[\w.+-]/.test(mimeType)) {
    throw invalidField(`${path}.${spellingOf(data, "mimeType")}`, `expected a media type such as "image/png"`);
  }
  if (typeof data.data !== "string" || data.data === "" || !isBase64(data.data)) {
    throw invalidField(`${path}.data`, "expected base64 data");
  }
}

/** Checks only both ends, because the body may be large and is often passed through; the vendor reads the rest. */
function isBase64(data: string): boolean {
  return /^[A-Za-z0-9+/_\-\s]*={0,2}\s*$/.test(data.length <= 256 ? data : data.slice(0, 128) + data.slice(-128));
}

function checkFileData(data: unknown, path: string): void {
  if (!isObject(data)) throw invalidField(path, "expected an object with fileUri");
  const uri = field(data, "fileUri");
  if (typeof uri !== "string" || uri === "") {
    throw invalidField(`${path}.${spellingOf(data, "fileUri")}`, "expected a URI");
  }
}

function checkCall(call: unknown, path: string, calls: Calls | null): Calls {
  if (!isObject(call)) throw invalidField(path, "expected an object with name and args");
  if (typeof call.name !== "string" || call.name === "") throw invalidField(`${path}.name`, "expected a tool's name");
  if (!isAbsent(call.args) && !isObject(call.args)) throw invalidField(`${path}.args`, "expected an object");
  if (!isAbsent(call.id) && typeof call.id !== "string") throw invalidField(`${path}.id`, "expected a string");
  const known = calls ?? { ids: new Set(), names: new Set() };
  known.names.add(call.name);
  if (typeof call.id === "string") known.ids.add(call.id);
  return known;
}

function checkResponse(response: unknown, path: string, calls: Calls | null, hasCache: boolean): void {
  if (!isObject(response)) throw invalidField(path, "expected an object with name and response");
  const { id, name } = response;
  if (typeof name !== "string" || name === "") throw invalidField(`${path}.name`, "expected a tool's name");
  if (!isAbsent(id) && typeof id !== "string") throw invalidField(`${path}.id`, "expected a string");
  if (!isAbsent(response.response) && !isObject(response.response)) {
    throw invalidField(`${path}.response`, "expected an object");
  }
  const hasCall = calls !== null && (calls.names.has(name) || (typeof id === "string" && calls.ids.has(id)));
  if (hasCall || hasCache) return;
  if (typeof id === "string" && id !== "") {
    throw invalidField(`${path}.id`, `expected the id of an earlier functionCall, got ${JSON.stringify(truncate(id))}`);
  }
  throw invalidField(
    `${path}.name`,
    `expected the name of an earlier functionCall, got ${JSON.stringify(truncate(name))}`,
  );
}

function checkInstruction(body: JsonObject): void {
  const instruction = field(body, "systemInstruction");
  if (instruction === undefined || typeof instruction === "string") return;
  const path = spellingOf(body, "systemInstruction");
  if (!isObject(instruction)) throw invalidField(path, "expected an object with parts");
  if (isAbsent(instruction.parts)) return;
  const parts = listIn(instruction.parts);
  if (parts === null) throw invalidField(`${path}.parts`, "expected an array of parts");
  parts.forEach((part, index) => {
    if (!isObject(part)) throw invalidField(`${path}.parts[${index}]`, "expected an object");
    if (!isAbsent(part.text) && typeof part.text !== "string") {
      throw invalidField(`${path}.parts[${index}].text`, "expected a string");
    }
  });
}

function truncate(text: string): string {
  return text.length > 64 ? text.slice(0, 64) : text;
}
