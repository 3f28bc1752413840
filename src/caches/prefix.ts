import type { Conversation, MediaPart, Part, TextPart, ToolResultPart } from "../conversation/conversation.ts";
import type { StoredFile } from "../files/files.ts";
import { elementAt } from "../lib/element_at.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { OutboundBody } from "../upstreams/outbound_body.ts";

/** What of a conversation is kept: settings of a reply belong to the turn that asks for one. */
export type Prefix = Pick<Conversation, "instructions" | "turns" | "tools" | "toolChoice" | "beyond">;

/**
 * A prefix as it lies in a file: a head, and behind it the long texts of the conversation one after another, each as
 * the inside of a JSON string. In the head's conversation the rest of each long text gives way to a stand-in, so that a
 * request is put together from some hundred bytes, whatever the vendor's form, and the long texts go from the file to
 * the vendor without standing in memory.
 */
export interface WrittenPrefix {
  /** JSON. */
  readonly head: Uint8Array<ArrayBuffer>;
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
}

/** A prefix that was opened for one request. */
export interface OpenPrefix {
  /** With stand-ins. */
  readonly conversation: Prefix;
  /** A request body that was written from this conversation, with the long texts put back while it is sent. */
  bodyOf(body: JsonObject): OutboundBody;
}

interface Head {
  /** How stand-ins begin; random, and never shown to anybody, so that no caller's text can hold it. */
  readonly mark: string;
  /** Bytes of each piece. */
  readonly lengths: readonly number[];
  readonly conversation: Prefix;
}

/** Shorter texts stay where they are. */
const MIN_CHARACTERS = 2_048;
/** Codecs look at how a text or a picture begins, so this much stays in its place. */
const KEPT_CHARACTERS = 256;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes a prefix for {@linkcode readPrefix}. */
export function writePrefix({ instructions, turns, tools, toolChoice, beyond }: Conversation): WrittenPrefix {
  const mark = `~${crypto.randomUUID()}~`;
  const pieces: Uint8Array<ArrayBuffer>[] = [];

  function shortened(text: string): string {
    // Blank texts are told by what they show, so they must stay whole.
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
      beyond,
    },
    lengths: pieces.map(({ length }) => length),
  };
  return { head: encoder.encode(JSON.stringify(head)), pieces };
}

/** Never between the two halves of a character, and never so that nothing but blanks is left in front. */
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

/** Documents of text are decoded by some codecs, so theirs must stay whole. */
function shortenedMedium(part: MediaPart, shortened: (text: string) => string): MediaPart {
  const { source } = part;
  if (source.kind !== "base64" || !/^(?:(?:image|audio|video)\/|application\/pdf$)/.test(source.mediaType)) return part;
  return { ...part, source: { ...source, data: shortened(source.data) } };
}

/**
 * Opens a prefix that lies in a file.
 *
 * @param headBytes The length of its head.
 */
export async function readPrefix(file: StoredFile, headBytes: number): Promise<OpenPrefix> {
  const { mark, lengths, conversation }: Head = JSON.parse(await headOf(file, headBytes));
  const places: { first: number; bytes: number }[] = [];
  let first = headBytes;
  for (const bytes of lengths) {
    places.push({ first, bytes });
    first += bytes;
  }
  return {
    conversation,
    bodyOf(body) {
      // Every other item is the number of a piece.
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

/** What a conversation goes on behind a prefix. */
export interface Continuation {
  readonly conversation: Conversation;
  /** Whether the vendor caches where a mark stands. */
  readonly isMarked: boolean;
  /** Whether the vendor finds prefixes by a key. */
  readonly isKeyed: boolean;
  /** Names the cache to the vendor. */
  readonly cacheKey: string;
}

/** The prefix and the conversation as one, with the vendor's own sign of what is to be cached. */
export function continued(
  prefix: Prefix,
  { conversation, isMarked, isKeyed, cacheKey }: Continuation,
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
    beyond: [...new Set([...prefix.beyond, ...conversation.beyond])],
  };
}

/**
 * A mark on the last part that can carry one. It lives an hour, as caches live longer than the other span of five
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
