import type {
  Conversation,
  MediaPart,
  Part,
  TextPart,
  ToolResultPart,
} from "../../conversation/neutral/conversation.ts";
import type { StoredFile } from "../../platform/files/files.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { OutboundBody } from "../../vendors/upstreams/call/outbound_body.ts";
import { fromStoredNames, toStoredNames } from "./stored_names.ts";

/** The stored part of a conversation. Generation settings belong to each request. */
export type Prefix = Pick<Conversation, "instructions" | "turns" | "tools" | "toolChoice" | "unsupportedFields">;

/**
 * A prefix in a file: a head, followed by the long texts of the conversation, each as the inside of a JSON string. In
 * the head's conversation each long text is replaced by its start and a placeholder. A request is thus built from a few
 * hundred bytes, in any wire format, and the long texts are streamed from the file to the vendor without being held in
 * memory.
 */
export interface WrittenPrefix {
  /** JSON. */
  readonly head: Uint8Array<ArrayBuffer>;
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
}

/** A prefix opened for one request. */
export interface OpenPrefix {
  /** With placeholders. */
  readonly conversation: Prefix;
  /** Returns a request body written from this conversation, with the long texts inserted while it is sent. */
  bodyOf(body: JsonObject): OutboundBody;
}

interface Head {
  /** The start of placeholders; random and never visible to a caller, so no caller's text can contain it. */
  readonly mark: string;
  /** The size of each piece in bytes. */
  readonly lengths: readonly number[];
  /** Under the member names of the stored format; see `stored_names.ts`. */
  readonly conversation: Omit<Prefix, "unsupportedFields"> & { readonly beyond: readonly string[] };
}

/** Shorter texts are not replaced. */
const MIN_CHARACTERS = 2_048;
/** Codecs inspect the start of a text or picture, so this much stays in place. */
const KEPT_CHARACTERS = 256;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Serialises a prefix for {@linkcode readPrefix}. */
export function writePrefix(
  { instructions, turns, tools, toolChoice, unsupportedFields }: Conversation,
): WrittenPrefix {
  const mark = `~${crypto.randomUUID()}~`;
  const pieces: Uint8Array<ArrayBuffer>[] = [];

  function shortened(text: string): string {
    // Texts of spaces are compared as a whole, so they must stay complete.
    if (text.length < MIN_CHARACTERS || text.trim() === "") return text;
    const cut = cutIn(text);
    pieces.push(encoder.encode(JSON.stringify(text.slice(cut)).slice(1, -1)));
    return `${text.slice(0, cut)}${mark}${pieces.length - 1}~`;
  }

  const head: Head = {
    mark,
    conversation: {
      instructions: instructions.map((part) => ({ ...part, text: shortened(part.text) })),
      turns: turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => shortenedPart(part, shortened)) })),
      tools,
      toolChoice,
      beyond: unsupportedFields,
    },
    lengths: pieces.map(({ length }) => length),
  };
  return { head: encoder.encode(JSON.stringify(head, toStoredNames)), pieces };
}

/** Never splits a surrogate pair, and never leaves only spaces before the cut. */
function cutIn(text: string): number {
  const visible = text.search(/\S/);
  const cut = Math.min(Math.max(KEPT_CHARACTERS, visible + 1), text.length - 1);
  return /[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? cut - 1 : cut;
}

function shortenedPart(part: Part, shortened: (text: string) => string): Part {
  switch (part.kind) {
    case "text":
      return { ...part, text: shortened(part.text) };
    case "tool_result":
      return { ...part, parts: part.parts.map((inner) => shortenedPart(inner, shortened)) as ToolResultPart["parts"] };
    case "image":
    case "file":
    case "audio":
    case "video":
      return shortenedMedium(part, shortened);
    default:
      return part;
  }
}

/** Some codecs decode text documents, so those must stay complete. */
function shortenedMedium(part: MediaPart, shortened: (text: string) => string): MediaPart {
  const { source } = part;
  if (source.kind !== "base64" || !/^(?:(?:image|audio|video)\/|application\/pdf$)/.test(source.mediaType)) return part;
  return { ...part, source: { ...source, data: shortened(source.data) } };
}

/**
 * Opens a prefix in a file.
 *
 * @param headBytes The size of its head.
 */
export async function readPrefix(file: StoredFile, headBytes: number): Promise<OpenPrefix> {
  const head: Head = JSON.parse(await headOf(file, headBytes), fromStoredNames);
  const { mark, lengths, conversation: { beyond, ...conversation } } = head;
  const places: { first: number; bytes: number }[] = [];
  let first = headBytes;
  for (const bytes of lengths) {
    places.push({ first, bytes });
    first += bytes;
  }
  return {
    conversation: { ...conversation, unsupportedFields: beyond },
    bodyOf(body) {
      // Every second item is the number of a piece.
      const items = JSON.stringify(body).split(new RegExp(`${mark}(\\d+)~`));
      const parts = items.map((item, at) => at % 2 === 0 ? encoder.encode(item) : elementAt(places, Number(item)));
      return {
        contentType: "application/json",
        lengthBytes: parts.reduce((sum, part) => sum + ("bytes" in part ? part.bytes : part.length), 0),
        async *open() {
          for (const part of parts) {
            if ("bytes" in part) yield* file.read({ first: part.first, last: part.first + part.bytes - 1 });
            else yield part;
          }
        },
      };
    },
  };
}

async function headOf(file: StoredFile, headBytes: number): Promise<string> {
  let text = "";
  for await (const piece of file.read({ first: 0, last: headBytes - 1 })) {
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** A conversation that continues a prefix. */
export interface PrefixContinuation {
  readonly conversation: Conversation;
  /** Whether the vendor caches at explicit marks. */
  readonly isMarked: boolean;
  /** Whether the vendor finds prefixes by a key. */
  readonly isKeyed: boolean;
  /** The vendor's key of the cache. */
  readonly cacheKey: string;
}

/** Joins the prefix and the conversation, with the vendor's own marker for the cached part. */
export function joinPrefix(
  prefix: Prefix,
  { conversation, isMarked, isKeyed, cacheKey }: PrefixContinuation,
): Conversation {
  const before = isMarked ? markedAtEnd(prefix.turns) : [...prefix.turns];
  const [next, ...rest] = conversation.turns;
  const last = before.at(-1);
  const turns = next && last && last.role === next.role && last.role !== "system"
    ? [...before.slice(0, -1), { role: last.role, parts: [...last.parts, ...next.parts] }, ...rest]
    : [...before, ...conversation.turns];
  return {
    ...conversation,
    turns,
    instructions: prefix.instructions,
    tools: prefix.tools,
    toolChoice: prefix.toolChoice,
    cacheKey: conversation.cacheKey ?? (isKeyed ? cacheKey : null),
    unsupportedFields: [...new Set([...prefix.unsupportedFields, ...conversation.unsupportedFields])],
  };
}

/**
 * Sets a mark on the last part that supports one, with a lifetime of an hour, since caches live longer than five
 * minutes.
 */
function markedAtEnd(turns: Prefix["turns"]): Conversation["turns"][number][] {
  const at = turns.findLastIndex(({ parts }) => parts.some(canBeMarked));
  const turn = turns[at];
  if (turn === undefined) return [...turns];
  const index = turn.parts.findLastIndex(canBeMarked);
  const parts = turn.parts.with(index, { ...turn.parts[index], cache: { ttl: "1h" } } as Part);
  return [...turns].with(at, { ...turn, parts });
}

function canBeMarked(part: Part): boolean {
  switch (part.kind) {
    case "text":
      return (part satisfies TextPart).text.trim() !== "";
    case "image":
    case "file":
    case "tool_call":
    case "tool_result":
      return true;
    default:
      return false;
  }
}
