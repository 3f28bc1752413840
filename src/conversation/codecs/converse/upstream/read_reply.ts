import { inputOf } from "../../../parts/request/call_input.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { Reply, ReplyPart } from "../../../neutral/reply.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isObject, objectOf, objectsOf, textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { signatureOf } from "./signatures.ts";
import { readStop } from "./stop.ts";
import { readUsage } from "./usage.ts";

/**
 * Reads a whole reply. Blocks of other kinds and of tools that the vendor runs are left out and listed in
 * `unsupportedFields`.
 *
 * @throws {TypeError} If it is not a reply of this format.
 */
export function readReply(body: unknown): Reply {
  const message = isObject(body) ? objectOf(objectOf(body.output)?.message) : null;
  if (!isObject(body) || message === null || !Array.isArray(message.content)) {
    throw new TypeError('Cannot read the reply: expected an object with "output.message.content"');
  }
  const unsupportedFields = new Set<string>();
  return {
    id: "",
    model: "",
    createdAt: null,
    parts: objectsOf(message.content).flatMap((block, index) => partsOf(block, index, unsupportedFields)),
    stop: readStop(body.stopReason),
    usage: readUsage(body),
    unsupportedFields: [...unsupportedFields],
  };
}

function partsOf(block: JsonObject, index: number, unsupportedFields: Set<string>): ReplyPart[] {
  if (typeof block.text === "string") return block.text === "" ? [] : [{ kind: "text", text: block.text }];
  if (isObject(block.reasoningContent)) return reasoningIn(block.reasoningContent);
  if (isObject(block.toolUse) && isOwnCall(block.toolUse)) return [callIn(block.toolUse, index)];
  if (isObject(block.citationsContent)) return citedText(block.citationsContent, unsupportedFields);
  if (isObject(block.image)) return imageIn(block.image);
  unsupportedFields.add(`output.message.content.${Object.keys(block)[0] ?? ""}`);
  return [];
}

/** Whether a call is one of the caller's tools, and not of a tool that the vendor runs. */
export function isOwnCall({ type }: JsonObject): boolean {
  return type !== "server_tool_use";
}

function reasoningIn({ reasoningText, redactedContent }: JsonObject): ReplyPart[] {
  if (typeof redactedContent === "string" && redactedContent !== "") {
    return [{ kind: "reasoning", text: "", redacted: true, signature: signatureOf(redactedContent) }];
  }
  const { text, signature } = objectOf(reasoningText) ?? {};
  const signed = textOrNull(signature);
  if (signed === null && textOf(text) === "") return [];
  return [{ kind: "reasoning", text: textOf(text), ...(signed !== null && { signature: signatureOf(signed) }) }];
}

function callIn({ toolUseId, name, input }: JsonObject, index: number): ReplyPart {
  return {
    kind: "tool_call",
    callId: textOrNull(toolUseId) ?? `call_${index}`,
    tool: textOf(name),
    input: inputOf(input),
  };
}

/** A text with its sources. Those without an address are left out. */
function citedText({ content, citations }: JsonObject, unsupportedFields: Set<string>): ReplyPart[] {
  const text = objectsOf(content).map((piece) => textOf(piece.text)).join("");
  const all = objectsOf(citations);
  const cited = all.map((citation) => readCitation(citation, text.length)).filter((citation) => citation !== null);
  if (cited.length < all.length) unsupportedFields.add("output.message.content.citationsContent.citations");
  return text === "" ? [] : [{ kind: "text", text, ...(cited.length > 0 && { citations: cited }) }];
}

/**
 * A citation of a page; null for one of a document.
 *
 * @param end The length of the text that it belongs to.
 */
export function readCitation({ title, location, sourceContent }: JsonObject, end: number): Citation | null {
  const url = textOrNull(objectOf(objectOf(location)?.web)?.url);
  if (url === null) return null;
  const citedText = objectsOf(sourceContent).map((piece) => textOf(piece.text)).join("");
  return { url, title: textOrNull(title), start: 0, end, ...(citedText !== "" && { citedText }) };
}

function imageIn({ format, source }: JsonObject): ReplyPart[] {
  const data = textOrNull(objectOf(source)?.bytes);
  if (data === null) return [];
  return [{ kind: "image", source: { kind: "base64", mediaType: `image/${textOrNull(format) ?? "png"}`, data } }];
}
