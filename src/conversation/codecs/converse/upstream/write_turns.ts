import { EMPTY_ERROR } from "../../../parts/request/pairing.ts";
import { type AlternatingTurn, isVisible } from "../../../parts/request/alternating_turns.ts";
import { argumentsOf } from "../../../parts/request/call_input.ts";
import type { Part, ReasoningPart, TextPart, ToolResultPart } from "../../../neutral/conversation.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { writeCachePoint } from "./cache_points.ts";
import { DocumentNames } from "./document_names.ts";
import { writeAudio, writeFile, writeImage, writeVideo } from "./write_media.ts";
import type { Writing } from "./writing.ts";
import { wireToolName } from "./write_tools.ts";

interface TurnWriting extends Writing {
  readonly documentNames: DocumentNames;
}

/** Writes the messages of a conversation. */
export function writeTurns(turns: readonly AlternatingTurn[], writing: Writing): JsonObject[] {
  const all: TurnWriting = { ...writing, documentNames: new DocumentNames() };
  return turns.flatMap(({ role, parts }, index) => {
    const isPrefill = role === "assistant" && index === turns.length - 1;
    const content = (isPrefill ? prefillParts(parts, writing) : parts).flatMap((part) => writePart(part, all));
    return content.length === 0 ? [] : [{ role, content: withText(content) }];
  });
}

/** A message with a document must have a text. Source: Amazon Bedrock API reference, "DocumentBlock". */
function withText(content: readonly JsonObject[]): readonly JsonObject[] {
  const hasDocument = content.some(({ document }) => document !== undefined);
  return hasDocument && !content.some(({ text }) => text !== undefined) ? [...content, { text: "." }] : content;
}

/** The last assistant turn in the form that a model continues: it ends neither in reasoning nor in whitespace. */
function prefillParts(parts: readonly Part[], { droppedFields }: Writing): readonly Part[] {
  const end = parts.findLastIndex((part) => part.kind !== "reasoning");
  if (end < parts.length - 1) droppedFields.add("reasoning_signature");
  const kept = parts.slice(0, end + 1);
  const last = kept.at(-1);
  return last?.kind === "text" ? [...kept.slice(0, -1), { ...last, text: last.text.trimEnd() }] : kept;
}

function writePart(part: Part, writing: TurnWriting): JsonObject[] {
  switch (part.kind) {
    case "text":
      return writeText(part, writing);
    case "refusal":
      return [{ text: part.text }];
    case "image":
      return [writeImage(part, writing), ...writeCachePoint(part.cache, writing)];
    case "file":
      return [writeFile(part, writing.documentNames, writing), ...writeCachePoint(part.cache, writing)];
    case "audio":
      return [writeAudio(part)];
    case "video":
      return [writeVideo(part)];
    case "reasoning":
      return [{ reasoningContent: writeReasoning(part) }];
    case "tool_call":
      return [
        { toolUse: { toolUseId: part.callId, name: wireToolName(part.tool), input: argumentsOf(part) } },
        ...writeCachePoint(part.cache, writing),
      ];
    case "tool_result":
      return [{ toolResult: writeResult(part, writing) }, ...writeCachePoint(part.cache, writing)];
    case "web_search":
      throw new TypeError('Unexpected part of kind "web_search"'); // removed by supportedTurns
  }
}

function writeText({ text, cache, citations }: TextPart, writing: Writing): JsonObject[] {
  if (citations && citations.length > 0) writing.droppedFields.add("citations");
  return [{ text }, ...writeCachePoint(cache, writing)];
}

function writeReasoning({ text, redacted, signature }: ReasoningPart): JsonObject {
  if (redacted) return { redactedContent: signature?.value };
  return { reasoningText: { text, ...(signature && { signature: signature.value }) } };
}

function writeResult({ callId, parts, isError }: ToolResultPart, writing: TurnWriting): JsonObject {
  const { traits, droppedFields } = writing;
  if (isError && !traits.takesToolStatus) droppedFields.add("tool_error");
  const content = parts.filter(isVisible).map((part) => {
    // Marks are not possible within a result.
    if (part.cache) droppedFields.add("cache_control");
    if (part.kind === "text" && part.citations) droppedFields.add("citations");
    if (part.kind === "text") return { text: part.text };
    return part.kind === "image" ? writeImage(part, writing) : writeFile(part, writing.documentNames, writing);
  });
  if (isError && content.length === 0) content.push({ text: EMPTY_ERROR });
  return { toolUseId: callId, content, ...(isError && traits.takesToolStatus && { status: "error" }) };
}
