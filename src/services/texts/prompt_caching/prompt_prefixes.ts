import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { omittedRange } from "../../../platform/lib/json/json_outline.ts";
import type { TextRequest } from "../plan/attempt.ts";
import { type PrefixDigest, PrefixHash } from "../memory/prefix_hash.ts";

/** The beginnings of a prompt that a vendor may have in its cache. */
export interface PromptPrefixes {
  /** The tools; null for none. */
  readonly tools: PrefixDigest | null;
  /** The tools and the instructions before the first message; null if there are neither. */
  readonly head: PrefixDigest | null;
  /**
   * The prompt up to the end of the first message, and up to the end of each of the last {@linkcode MAX_ENDS}. The last
   * one is the whole prompt.
   */
  readonly ends: readonly PrefixDigest[];
  /** The bytes of the tools. */
  readonly toolBytes: number;
  /** The bytes of tools and instructions. */
  readonly headBytes: number;
  /** Whether the model has answered before in the conversation. */
  readonly isContinued: boolean;
}

/** The request as a prompt is read from it. */
export type PrefixedRequest = Pick<TextRequest, "body" | "bytes" | "scan">;

/** The top-level members of all formats with tools, and those with instructions, in the order of a prompt. */
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
]);
/** The marks of vendors' caches. They move from turn to turn and are no part of a prompt. */
const CACHE_CONTROL = "cache_control";
const BREAKPOINT = "prompt_cache_breakpoint";

/** A conversation has grown by fewer messages since a vendor answered last. */
const MAX_ENDS = 64;

const TEXT = 1;
const OTHER = 2;
const LIST = 3;
const OBJECT = 4;
const END = 5;

/**
 * Hashes the beginnings of a request's prompt, in any format. Long texts are hashed as they were sent, without being
 * decoded. Two spellings of one prompt have different hashes: a client spells what it repeats in the same way.
 */
export function prefixesOf({ body, bytes, scan }: PrefixedRequest): PromptPrefixes {
  const hash = new PrefixHash();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const toolBytes = addMembers(hash, TOOLS, view, scan);
  const tools = toolBytes === 0 ? null : hash.digest();
  let headBytes = toolBytes + addMembers(hash, INSTRUCTIONS, view, scan);
  const walk = new PromptWalk(hash, view, scan);
  let head: PrefixDigest | null = null;
  const ends: PrefixDigest[] = [];
  let isContinued = false;
  const messages = messagesOf(body);
  let left = messages.length;
  for (const message of messages) {
    left--;
    if (ends.length === 0 && !isInstruction(message)) {
      headBytes += walk.size;
      head = headBytes === 0 ? null : hash.digest();
    }
    walk.add(message);
    if (ends.length === 0 && isInstruction(message)) continue;
    if (ends.length === 0 || left < MAX_ENDS) ends.push(hash.digest());
    isContinued ||= isOfModel(message);
  }
  return { tools, head, ends, toolBytes, headBytes, isContinued };
}

/** Adds the top-level members with these names, and returns their bytes. */
function addMembers(
  hash: PrefixHash,
  names: ReadonlySet<string>,
  bytes: DataView<ArrayBuffer>,
  { members }: PrefixedRequest["scan"],
): number {
  let size = 0;
  for (const { key, valueStart, valueEnd } of members) {
    if (!names.has(key)) continue;
    hash.addBytes(bytes, valueStart, valueEnd);
    size += valueEnd - valueStart;
  }
  return size;
}

function messagesOf({ messages, input, contents }: JsonObject): readonly unknown[] {
  if (typeof input === "string") return [input];
  return listOf(messages ?? input ?? contents);
}

function isInstruction(message: unknown): boolean {
  return isObject(message) && (message.role === "system" || message.role === "developer");
}

/** A message of the model, or an item that only a model makes. */
function isOfModel(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { role, type } = message;
  if (role === undefined) return typeof type === "string" && type !== "message";
  return role === "assistant" || role === "model";
}

/** Adds values of JSON to a hash. */
class PromptWalk {
  /** The bytes and characters so far. */
  size = 0;

  constructor(
    private readonly hash: PrefixHash,
    private readonly bytes: DataView<ArrayBuffer>,
    private readonly scan: PrefixedRequest["scan"],
  ) {}

  add(value: unknown): void {
    const { hash } = this;
    if (typeof value === "string") this.#addText(value);
    else if (Array.isArray(value)) {
      hash.addTag(LIST);
      for (const each of value) this.add(each);
      hash.addTag(END);
    } else if (isObject(value)) {
      hash.addTag(OBJECT);
      for (const name in value) {
        if (name === CACHE_CONTROL || name === BREAKPOINT) continue;
        hash.addText(name);
        this.add(value[name]);
      }
      hash.addTag(END);
    } else {
      hash.addTag(OTHER);
      hash.addText(String(value));
    }
  }

  #addText(text: string): void {
    const { hash, bytes, scan } = this;
    hash.addTag(TEXT);
    const range = omittedRange(scan, text);
    if (range === null) {
      hash.addText(text);
      this.size += text.length;
    } else {
      hash.addBytes(bytes, range.start, range.end);
      this.size += range.end - range.start;
    }
  }
}
