import type { JsonObject } from "../lib/json_object.ts";
import type { TokenLogprob } from "./logprobs.ts";
import type { Seal } from "./seal.ts";
import type { WebSearch, WebSearchPart } from "./web_search.ts";

/**
 * A request in neutral words: what a caller of any protocol asks of a model. Fields that a caller left out are null
 * or empty; the vendor's own default then holds.
 */
export interface Conversation {
  /** The model as the caller named it: `<provider>/<model_name>`. */
  readonly model: string;
  /** System and developer text that stands before the first turn, in order. */
  readonly instructions: readonly TextPart[];
  /** Never two neighbours of one role, except `system`. Results of tool calls stand first in a user turn. */
  readonly turns: readonly Turn[];
  /** What the model may call; empty when the caller offers nothing. */
  readonly tools: readonly Tool[];
  /** A search by the model's vendor; left out when the caller offers or allows none. */
  readonly webSearch?: WebSearch;
  /** Null when the caller did not say: the vendor's default holds. */
  readonly toolChoice: ToolChoice | null;
  /** False forbids more than one call in a reply; null leaves it to the vendor. */
  readonly parallelToolCalls: boolean | null;
  /** The shape of the reply's text; null for plain text. */
  readonly outputFormat: OutputFormat | null;
  /** Most tokens of the reply, reasoning included. */
  readonly maxOutputTokens: number | null;
  /** As {@linkcode NO_SAMPLING} when the caller said nothing. */
  readonly sampling: Sampling;
  /** Null when the caller said nothing about thinking. */
  readonly reasoning: ReasoningRequest | null;
  /** True when the reply is wanted in events, as it is made. */
  readonly stream: boolean;
  /** The caller's name for its own user (`user`, `safety_identifier`, `metadata.user_id`). */
  readonly user: string | null;
  /** A hint that requests with equal keys share a prefix (`prompt_cache_key`). */
  readonly cacheKey: string | null;
  /** How long an answer is wanted: `low`, `medium`, `high`. */
  readonly verbosity: string | null;
  /** The caller's own words for its records, by their keys (`metadata`, `labels`); left out when it sent none. */
  readonly metadata?: JsonObject;
  /** How fast and at what price the vendor is to work; left out when the caller did not say. */
  readonly serviceTier?: ServiceTier;
  /** How many of the likeliest tokens are wanted with their probabilities, beside the chosen one; left out for none. */
  readonly logprobs?: number;
  /** Settings that the chat and responses formats share by name and meaning, as they were sent; left out for none. */
  readonly defaultSettings?: DefaultSettings;
  /** Dotted names, in the caller's spelling, of fields that were sent and that this form has no word for. */
  readonly beyond: readonly string[];
}

/**
 * A service tier: `auto` (the vendor chooses, and may serve at a better tier than the usual one), `standard` (the usual
 * one), `flex`, `priority`, or a word of one vendor's own.
 */
export type ServiceTier = string;

/** Settings that the chat and responses formats of the default protocol share. */
export type DefaultSettings = { readonly [name in (typeof DEFAULT_SETTINGS)[number]]?: unknown };

/** The names of {@linkcode DefaultSettings}. Source: Chat Completions and Responses API references, "Create". */
export const DEFAULT_SETTINGS = ["prompt_cache_retention", "prompt_cache_options", "moderation"] as const;

/** Who speaks, and what. A `system` turn is an instruction given in the middle of the conversation (text only). */
export interface Turn {
  /** `user` is the caller's side, results of its tools included; `assistant` is the model's. */
  readonly role: "user" | "assistant" | "system";
  /** What is said, in order. */
  readonly parts: readonly Part[];
}

/** One thing said, shown, thought, called or returned. */
export type Part =
  | TextPart
  | ImagePart
  | FilePart
  | AudioPart
  | VideoPart
  | ReasoningPart
  | RefusalPart
  | ToolCallPart
  | ToolResultPart
  | WebSearchPart;

/** A mark that everything up to here may be kept in the vendor's prompt cache (`cache_control`). */
export interface CacheMark {
  /** How long it is kept: five minutes, an hour, or by the vendor's default when null. */
  readonly ttl: "5m" | "1h" | null;
}

/** Where media bytes are: in the request, as standard base64 without line ends, or at an address. */
export type Source =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | null };

/** Text; never empty in a request. */
export interface TextPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "text";
  /** The words as their writer put them. */
  readonly text: string;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
  /** A proof that the content form puts on text. */
  readonly seal?: Seal;
  /** Web sources that a reply's text names. */
  readonly citations?: readonly Citation[];
  /** The tokens of a reply's text with their probabilities, where they were asked for. */
  readonly logprobs?: readonly TokenLogprob[];
}

/** A web address that a stretch of text rests on; offsets count UTF-16 units of that text, null where not given. */
export interface Citation {
  /** The page's address, as the vendor gave it. */
  readonly url: string;
  /** The page's title; null where the vendor gave none. */
  readonly title: string | null;
  /** Where the stretch begins. */
  readonly start: number | null;
  /** Where the stretch ends, exclusive. */
  readonly end: number | null;
  /** What of the page is cited, where the vendor tells. */
  readonly citedText?: string;
  /** The vendor's own mark of the place on the page, which it wants back. */
  readonly seal?: Seal;
}

/** A picture. */
export interface ImagePart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "image";
  /** Where the picture's bytes are. */
  readonly source: Source;
  /** How closely to look: `auto`, `low`, `high`, `original`. */
  readonly detail?: string;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** A document: PDF, or plain text (then `mediaType` is `text/plain` and the data is base64 of UTF-8). */
export interface FilePart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "file";
  /** Where the document's bytes are. */
  readonly source: Source;
  /** The name of the file; null when the caller gave none. */
  readonly name: string | null;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** Sound. */
export interface AudioPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "audio";
  /** Where the sound's bytes are. */
  readonly source: Source;
}

/** Moving pictures. */
export interface VideoPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "video";
  /** Where the video's bytes are. */
  readonly source: Source;
}

/** A part whose bytes may be at an address. */
export type MediaPart = ImagePart | FilePart | AudioPart | VideoPart;

/** Thinking. The text may be empty when only its seal is shown. */
export interface ReasoningPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "reasoning";
  /** The thoughts, or the vendor's summary of them. */
  readonly text: string;
  /** The vendor's proof of the thoughts; absent when it gave none. */
  readonly seal?: Seal;
  /** True when the vendor hides the text altogether and the seal carries it (`redacted_thinking`). */
  readonly redacted?: boolean;
  /** The vendor's id of the item (responses form). */
  readonly id?: string;
}

/** The model's own words that it will not answer, where its form sets them apart from text. */
export interface RefusalPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "refusal";
  /** The refusal as the model worded it. */
  readonly text: string;
}

/** A call of a tool that the caller offered. */
export interface ToolCallPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "tool_call";
  /** Names the call; the {@linkcode ToolResultPart} that answers it repeats it. */
  readonly callId: string;
  /** The name of the {@linkcode Tool} that is called. */
  readonly tool: string;
  /**
   * The arguments as JSON text, exactly as the model wrote them: possibly not valid JSON, never empty (`{}` when the
   * model gave none). For a custom tool, free text.
   */
  readonly input: string;
  /** True for a tool of kind `custom`. */
  readonly custom?: boolean;
  /** The vendor's proof of the thoughts that led to the call; absent when it gave none. */
  readonly seal?: Seal;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** What a tool answered. */
export interface ToolResultPart {
  /** Tells the kinds of {@linkcode Part} apart. */
  readonly kind: "tool_result";
  /** The call that it answers, by {@linkcode ToolCallPart.callId}. */
  readonly callId: string;
  /** The tool's name, looked up from the call; null when the call is not in the conversation. */
  readonly tool: string | null;
  /** The answer, in order; empty when the tool said nothing. */
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
  /** True when the caller says that the tool failed; false where its form has no word for that. */
  readonly isError: boolean;
  /** True for a tool of kind `custom`. */
  readonly custom?: boolean;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** A JSON Schema, passed on as it came or cleaned for its target. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A tool that the caller offers and runs itself. */
export type Tool =
  | {
    readonly kind: "function";
    readonly name: string;
    readonly description: string | null;
    /** Null for a tool without arguments. */
    readonly parameters: JsonSchema | null;
    readonly strict: boolean | null;
    readonly cache?: CacheMark;
  }
  | {
    /** A tool whose input is free text (`custom` of the default protocol). */
    readonly kind: "custom";
    readonly name: string;
    readonly description: string | null;
    /** A grammar or text format in the default protocol's shape (flat, as `responses` has it), or null. */
    readonly format: unknown;
  };

/** Whether and which tools the model is to call. */
export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  | { readonly kind: "required" }
  | { readonly kind: "tool"; readonly tool: string }
  | { readonly kind: "allowed"; readonly mode: "auto" | "required"; readonly tools: readonly string[] };

/** The shape that the reply's text is to have; plain text when null. */
export type OutputFormat =
  | { readonly kind: "json" }
  | {
    readonly kind: "json_schema";
    readonly name: string;
    readonly description: string | null;
    readonly schema: JsonSchema;
    readonly strict: boolean | null;
  };

/** How the next token is chosen. */
export interface Sampling {
  /** How freely tokens are chosen, from 0 (the likeliest); null: the vendor's default. */
  readonly temperature: number | null;
  /** Only the likeliest tokens that make up this share, 0 to 1; null: the vendor's default. */
  readonly topP: number | null;
  /** Only this many of the likeliest tokens; null: the vendor's default. */
  readonly topK: number | null;
  /** Makes tokens that occurred at all less likely (negative: more); null: none asked for. */
  readonly presencePenalty: number | null;
  /** Makes tokens less likely the more often they occurred (negative: more); null: none asked for. */
  readonly frequencyPenalty: number | null;
  /** Asks for the same choices each time, as far as a vendor keeps to it; null: none asked for. */
  readonly seed: number | null;
  /** Texts at which the reply ends; empty for none. */
  readonly stop: readonly string[];
}

/** No wish about the next token. */
export const NO_SAMPLING: Sampling = {
  temperature: null,
  topP: null,
  topK: null,
  presencePenalty: null,
  frequencyPenalty: null,
  seed: null,
  stop: [],
};

/** How hard to think, weakest first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** One of {@linkcode EFFORTS}. */
export type Effort = typeof EFFORTS[number];

/** How much to think, and how much of it to show. */
export interface ReasoningRequest {
  /** Null when only a budget, or nothing, was said. `none` switches thinking off where the model can. */
  readonly effort: Effort | null;
  /** Most tokens of thinking; null when only an effort was said. */
  readonly budgetTokens: number | null;
  /** Whether the thoughts (or a summary) are wanted in the reply; null leaves it to the vendor. */
  readonly visible: boolean | null;
}
