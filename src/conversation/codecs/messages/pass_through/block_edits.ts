import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { hasQuoted } from "../../../../platform/lib/text/word_search.ts";
import { isObject, listOf, objectOf } from "../../../neutral/wire_value.ts";
import { type BodyEdits, joinedEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { opaqueUserId } from "../shared/fields.ts";
import { MAX_MARKS } from "../upstream/cache_marks.ts";
import { wireCallId } from "../upstream/write_tools.ts";

/**
 * Edits ids of calls and of users, and cache marks, that Anthropic refuses. Compatible vendors have other rules, and
 * some require ids of their own.
 */
export function blockEditsOf(request: PassThroughRequest): BodyEdits {
  if (request.quirks.has("any_property_names")) return NO_EDITS;
  return [callIdEdits(request.body), userEdits(request.body), cacheEdits(request)].reduce(joinedEdits);
}

function userEdits({ metadata }: JsonObject): BodyEdits {
  const user = isObject(metadata) ? metadata.user_id : null;
  if (typeof user !== "string") return NO_EDITS;
  const accepted = opaqueUserId(user);
  return accepted === user
    ? NO_EDITS
    : { edits: [{ path: ["metadata", "user_id"], value: accepted }], droppedFields: [] };
}

/** An id that the vendor accepts. */
const ACCEPTED = /^[\w-]+$/;

/**
 * Edits ids of calls that another vendor made, such as `functions.read:0`, when a history goes on with another model.
 * Source: Messages API reference, `tool_use.id`; the
 * vendor's error message "String should match pattern '^[a-zA-Z0-9_-]+$'".
 */
function callIdEdits({ messages }: JsonObject): BodyEdits {
  if (!Array.isArray(messages)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  // Almost all ids are accepted, and a conversation has many: the search makes no lists and no functions.
  for (let index = 0; index < messages.length; index++) {
    const message: unknown = messages[index];
    if (!isObject(message) || !Array.isArray(message.content)) continue;
    const blocks: readonly unknown[] = message.content;
    for (let position = 0; position < blocks.length; position++) {
      const block = blocks[position];
      const name = idMemberOf(block);
      if (name === null || !isObject(block)) continue;
      const accepted = acceptedCallId(block[name]);
      if (accepted === block[name]) continue;
      edits.push({ path: ["messages", index, "content", position, name], value: accepted });
    }
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [] };
}

/** The member in which a block has the id of a call; null for other blocks. */
function idMemberOf(block: unknown): "id" | "tool_use_id" | null {
  if (!isObject(block)) return null;
  if (block.type === "tool_use") return "id";
  return block.type === "tool_result" ? "tool_use_id" : null;
}

/** An id as the vendor accepts it; anything else as it is. */
function acceptedCallId(id: unknown): unknown {
  return typeof id !== "string" || ACCEPTED.test(id) ? id : wireCallId(id);
}

/**
 * Edits cache marks that the vendor refuses: within results of tools, where the result gets the mark; on system
 * messages in the middle; the first of more than four; and a lifetime of the whole request other than that of its last
 * block. Source: Messages API reference, "Prompt caching"; the vendor's error
 * messages; pydantic/pydantic-ai, langchain-ai/langchain#34920.
 */
function cacheEdits(request: PassThroughRequest): BodyEdits {
  const { body, outlineText } = request;
  if (!hasQuoted(outlineText, 'cache_control"')) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  const marked = [...blocksIn(body)].flatMap((block) => {
    const inner = innerMark(block.owner);
    const mark = objectOf(block.owner.cache_control) ?? inner;
    return mark === null ? [] : [{ ...block, mark, isInside: inner !== null }];
  });
  const kept = marked.filter(({ isSystem }) => !isSystem).slice(-MAX_MARKS);
  for (const block of marked) {
    const isKept = kept.includes(block);
    if (!isKept) droppedFields.add("cache_control");
    if (block.isInside) edits.push(withOuterMark(request, block.path, isKept ? block.mark : null));
    else if (!isKept) edits.push({ path: [...block.path, "cache_control"], value: undefined });
  }
  const whole = objectOf(body.cache_control);
  const last = kept.at(-1)?.mark;
  if (whole !== null && last !== undefined && lifetimeOf(whole) !== lifetimeOf(last)) {
    edits.push({ path: ["cache_control"], value: last });
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [...droppedFields] };
}

/** A block that can have a mark. */
interface Block {
  readonly path: JsonEdit["path"];
  readonly owner: JsonObject;
  /** Whether it is of a system message in the middle. */
  readonly isSystem: boolean;
}

/** All blocks, in the order in which a prompt is read. */
function* blocksIn({ tools, system, messages }: JsonObject): Generator<Block> {
  for (const [name, list] of [["tools", tools], ["system", system]] as const) {
    for (const [index, owner] of listOf(list).entries()) {
      if (isObject(owner)) yield { path: [name, index], owner, isSystem: false };
    }
  }
  for (const [index, message] of listOf(messages).entries()) {
    if (!isObject(message)) continue;
    for (const [at, owner] of listOf(message.content).entries()) {
      if (!isObject(owner)) continue;
      yield { path: ["messages", index, "content", at], owner, isSystem: message.role === "system" };
    }
  }
}

/** The last mark within a result; null for none. */
function innerMark({ type, content }: JsonObject): JsonObject | null {
  if (type !== "tool_result") return null;
  const marks = listOf(content).map((part) => isObject(part) ? objectOf(part.cache_control) : null);
  return marks.findLast((mark) => mark !== null) ?? null;
}

/** A result with its mark beside its content; null for none. It is read whole, since it is written again. */
function withOuterMark(
  { wholeBody }: PassThroughRequest,
  path: JsonEdit["path"],
  mark: JsonObject | null,
): JsonEdit {
  const [, index, , at] = path;
  const message = objectOf(listOf(wholeBody().messages)[Number(index)]);
  const { cache_control: _, ...result } = objectOf(listOf(message?.content)[Number(at)]) ?? {};
  const content = listOf(result.content).map((part) => {
    if (!isObject(part)) return part;
    const { cache_control: _inner, ...others } = part;
    return others;
  });
  const id = acceptedCallId(result.tool_use_id);
  return { path, value: { ...result, tool_use_id: id, content, ...(mark !== null && { cache_control: mark }) } };
}

function lifetimeOf({ ttl }: JsonObject): unknown {
  return ttl ?? "5m";
}
