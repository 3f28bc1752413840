import { Buffer } from "node:buffer";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { FilePart, ShownPart, Source, TextPart } from "../../../neutral/conversation.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { type FieldNames, readCache } from "../shared/fields.ts";
import { readText } from "../shared/parts.ts";

/**
 * Reads a content block of a user message or tool result; null for other kinds of blocks.
 *
 * @param path The path of the block, for errors.
 * @throws {GatewayError} `invalid_request` for a file id, which is valid at one vendor only.
 */
export function readContentBlock(block: JsonObject, path: string, unsupportedFields: FieldNames): ShownPart[] | null {
  switch (block.type) {
    case "text":
      return presentOf(readText(block));
    case "image":
      return [{ kind: "image", source: readSource(block.source, path, null), ...readCache(block) }];
    case "document":
      return readDocument(block, path, unsupportedFields);
    case "search_result":
      unsupportedFields.add(`${plainPath(path)}.search_result`);
      return presentOf(readSearchResult(block));
    case "tool_reference":
      unsupportedFields.add(`${plainPath(path)}.tool_reference`);
      return presentOf(readText({ text: block.tool_name }));
    default:
      return null;
  }
}

/** The path of a block, without array indexes. */
function plainPath(path: string): string {
  return path.replaceAll(/\[\d+\]/g, "");
}

function presentOf<T>(part: T | null): T[] {
  return part === null ? [] : [part];
}

function readDocument(block: JsonObject, path: string, unsupportedFields: FieldNames): ShownPart[] {
  const context = readText({ text: block.context });
  const source = isObject(block.source) ? block.source : {};
  if (source.type === "content") {
    return [...presentOf(context), ...readContent(source.content, `${path}.source`, unsupportedFields)];
  }
  const file: FilePart = {
    kind: "file",
    source: source.type === "text" ? textSource(source.data) : readSource(source, path, "application/pdf"),
    name: textOrNull(block.title),
    ...readCache(block),
  };
  return [...presentOf(context), file];
}

/** Reads the content of a tool result or of a document: a string or blocks. */
export function readContent(content: unknown, path: string, unsupportedFields: FieldNames): ShownPart[] {
  if (typeof content === "string") return presentOf(readText({ text: content }));
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((block, position) => {
    const parts = readContentBlock(block, `${path}.content[${position}]`, unsupportedFields);
    if (parts === null) unsupportedFields.add(`${plainPath(path)}.content.${block.type}`);
    return parts ?? [];
  });
}

function textSource(data: unknown): Source {
  return { kind: "base64", mediaType: "text/plain", data: Buffer.from(textOrNull(data) ?? "").toString("base64") };
}

/** @param assumed The media type of a URL, where the format allows only one kind. */
function readSource(source: unknown, path: string, assumed: string | null): Source {
  const { type, url, media_type: mediaType, data } = isObject(source) ? source : {};
  if (type === "url") return { kind: "url", url: textOrNull(url) ?? "", mediaType: assumed };
  if (type === "base64") {
    return { kind: "base64", mediaType: textOrNull(mediaType) ?? "", data: readBase64(textOrNull(data) ?? "", path) };
  }
  if (type === "file") {
    throw invalidField(
      `${path}.source`,
      "file ids are not supported for this model; send the data or a URL",
    );
  }
  throw invalidField(`${path}.source.type`, 'expected "base64" or "url"');
}

/** Standard base64 without line breaks. */
function readBase64(data: string, path: string): string {
  const plain = /[^A-Za-z0-9+/=]/.test(data)
    ? data.replaceAll("-", "+").replaceAll("_", "/").replace(/\s+/g, "")
    : data;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) throw invalidField(`${path}.source.data`, "expected base64 data");
  return plain;
}

/** A search result as text: title and source, then its content. */
function readSearchResult(block: JsonObject): TextPart | null {
  const texts = Array.isArray(block.content) ? block.content.map((inner) => isObject(inner) ? inner.text : null) : [];
  const lines = [block.title, block.source, ...texts].filter((line) => typeof line === "string" && line !== "");
  return readText({ ...block, citations: null, text: lines.join("\n") });
}
