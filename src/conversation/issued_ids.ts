import type { JsonObject } from "../lib/json_object.ts";
import type { Form } from "./seal.ts";
import { isObject, listOf, objectOf, objectsOf, textOrNull } from "./wire_value.ts";

/** An id by which a vendor names state that it keeps, in a reply. */
export interface IssuedId {
  readonly kind: "response" | "conversation" | "item" | "container" | "file" | "audio";
  readonly id: string;
}

/** What a request says about the state of its reply. */
export interface StatePolicy {
  /** Whether the vendor keeps the reply. */
  readonly isStored: boolean;
  /** Whether reasoning comes with its encrypted content, so that nobody looks it up by id. */
  readonly hasReasoning: boolean;
}

/** What a request of a format says about the state of its reply. Source: Responses API reference, "store", "include". */
export function statePolicyOf(body: JsonObject): StatePolicy {
  return {
    isStored: body.store !== false,
    hasReasoning: listOf(body.include).includes("reasoning.encrypted_content"),
  };
}

/**
 * The ids that a whole reply, or the data of one frame of a stream, hands out. Reads only places that the vendor writes: what
 * a model can be made to write, such as a tool's input, hands out nothing. Files that a search found are not handed out.
 * Source: Responses, Messages and Chat Completions API references.
 *
 * @param value The reply or frame, parsed.
 */
export function issuedIdsIn(form: Form, value: unknown, policy: StatePolicy): readonly IssuedId[] {
  if (!isObject(value)) return [];
  switch (form) {
    case "responses":
      return idsOfResponses(value, policy);
    case "messages":
      return idsOfMessages(value);
    case "chat":
      return objectsOf(value.choices).flatMap(({ message, delta }) =>
        idIn("audio", objectOf(objectOf(message)?.audio ?? objectOf(delta)?.audio)?.id)
      );
    case "content":
      return [];
  }
}

/**
 * Whether the text of a reply or stream may hand out an id: a cheap search, so that most of a stream is never parsed.
 *
 * @param text Whole lines, a character a byte or decoded.
 */
export function mayIssueIds(form: Form, text: string): boolean {
  switch (form) {
    case "responses":
      return text.includes('"id"') || text.includes("container_");
    case "messages":
      return text.includes('"container"') || text.includes('"file_id"');
    case "chat":
      return text.includes('"audio"');
    case "content":
      return false;
  }
}

function idIn(kind: IssuedId["kind"], id: unknown): IssuedId[] {
  const text = textOrNull(id);
  return text === null ? [] : [{ kind, id: text }];
}

function idsOfResponses(value: JsonObject, policy: StatePolicy): IssuedId[] {
  const response = objectOf(value.response) ?? (value.object === "response" ? value : null);
  const items = [...objectsOf(response?.output), ...objectsOf([value.item])];
  const annotations = [...objectsOf([value.annotation]), ...annotationsIn([value.part])];
  return [
    ...policy.isStored ? idIn("response", response?.id) : [],
    ...idIn("conversation", objectOf(response?.conversation)?.id ?? response?.conversation),
    ...items.flatMap((item) => idsOfItem(item, policy)),
    ...annotations.flatMap(idsOfAnnotation),
  ];
}

/** Kinds of items that a caller sends back whole, so that their ids are looked up only where the reply was stored. */
const WHOLE_KINDS: ReadonlySet<unknown> = new Set(["message", "function_call", "custom_tool_call"]);

function idsOfItem(item: JsonObject, { isStored, hasReasoning }: StatePolicy): IssuedId[] {
  const isWhole = WHOLE_KINDS.has(item.type) || (item.type === "reasoning" && hasReasoning);
  return [
    ...isStored || !isWhole ? idIn("item", item.id) : [],
    ...idIn("container", item.container_id ?? objectOf(item.environment)?.container_id),
    ...annotationsIn(item.content).flatMap(idsOfAnnotation),
  ];
}

function annotationsIn(parts: unknown): JsonObject[] {
  return objectsOf(parts).flatMap(({ annotations }) => objectsOf(annotations));
}

/** A file that a hosted tool wrote; a file that was only found and cited is the operator's. */
function idsOfAnnotation(annotation: JsonObject): IssuedId[] {
  if (annotation.type !== "container_file_citation") return [];
  return [...idIn("container", annotation.container_id), ...idIn("file", annotation.file_id)];
}

function idsOfMessages(value: JsonObject): IssuedId[] {
  const message = objectOf(value.message) ?? value;
  const blocks = [...objectsOf(message.content), ...objectsOf([value.content_block])];
  const outputs = blocks
    .filter(({ type }) => typeof type === "string" && type.endsWith("code_execution_tool_result"))
    .flatMap(({ content }) => objectsOf(objectOf(content)?.content));
  return [
    ...idIn("container", (objectOf(message.container) ?? objectOf(objectOf(value.delta)?.container))?.id),
    ...outputs.flatMap(({ file_id: id }) => idIn("file", id)),
  ];
}
