import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { TokenLogprob } from "./logprobs.ts";
import type { ReasoningSignature } from "./reasoning_signature.ts";
import type { WebSearch, WebSearchPart } from "./web_search.ts";

/**
 * A request in the neutral form, which does not depend on the caller's or the vendor's wire format. Fields that the
 * caller left out are null or empty; the vendor's default then applies.
 */
export interface Conversation {
  /** The model as the caller named it: `<provider>/<model_name>`. */
  readonly model: string;
  /** System and developer text before the first turn, in order. */
  readonly instructions: readonly TextPart[];
  /** Adjacent turns have different roles, except `system`. Results of tool calls come first in a user turn. */
  readonly turns: readonly Turn[];
  /** The tools that the model may call; empty when the caller offers none. */
  readonly tools: readonly Tool[];
  /** A web search run by the model's vendor; absent when the caller offers or allows none. */
  readonly webSearch?: WebSearch;
  /** Null when the caller set none: the vendor's default applies. */
  readonly toolChoice: ToolChoice | null;
  /** False forbids more than one call in a reply; null leaves it to the vendor. */
  readonly parallelToolCalls: boolean | null;
  /** The format of the reply's text; null for plain text. */
  readonly outputFormat: OutputFormat | null;
  /** Maximum number of tokens in the reply, reasoning included. */
  readonly maxOutputTokens: number | null;
  /** {@linkcode NO_SAMPLING} when the caller set nothing. */
  readonly sampling: Sampling;
  /** Null when the caller set nothing about reasoning. */
  readonly reasoning: ReasoningRequest | null;
  /** True when the reply is to be streamed. */
  readonly stream: boolean;
  /** The caller's id of its own user (`user`, `safety_identifier`, `metadata.user_id`). */
  readonly user: string | null;
  /** A hint that requests with equal keys share a prefix (`prompt_cache_key`). */
  readonly cacheKey: string | null;
  /** How long the reply is to be: `low`, `medium`, `high`. */
  readonly verbosity: string | null;
  /** The caller's own keys and values for its records (`metadata`, `labels`); absent when it sent none. */
  readonly metadata?: JsonObject;
  /** The speed and price class of the request; absent when the caller set none. */
  readonly serviceTier?: ServiceTier;
  /** How many alternatives to report for each token, with their probabilities; absent when not requested. */
  readonly logprobs?: number;
  /** Settings that the chat and responses formats share by name and meaning, as sent; absent when none was sent. */
  readonly defaultSettings?: DefaultSettings;
  /** Dotted names, in the caller's spelling, of fields that were sent and that have no neutral form. */
  readonly unsupportedFields: readonly string[];
}

/**
 * A service tier: `auto` (the vendor chooses, possibly a better tier than the default), `standard` (the default),
 * `flex`, `priority`, or a tier name of one vendor.
 */
export type ServiceTier = string;

/** Settings that the chat and responses formats of the default protocol share. */
export type DefaultSettings = { readonly [name in (typeof DEFAULT_SETTINGS)[number]]?: unknown };

/** The names of {@linkcode DefaultSettings}. Source: Chat Completions and Responses API references, "Create". */
export const DEFAULT_SETTINGS = ["prompt_cache_retention", "prompt_cache_options", "moderation"] as const;

/** A message with its role. A `system` turn is an instruction in the middle of the conversation (text only). */
export interface Turn {
  /** `user`: the caller's side, tool results included. `assistant`: the model's side. */
  readonly role: "user" | "assistant" | "system";
  /** The content, in order. */
  readonly parts: readonly Part[];
}

/** One piece of content: text, media, reasoning, a tool call or its result. */
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

/** Marks the end of a prefix that the vendor may cache (`cache_control`). */
export interface CacheMark {
  /** How long the prefix is cached: five minutes or an hour; null for the vendor's default. */
  readonly ttl: "5m" | "1h" | null;
}

/** Where media bytes are: in the request, as standard base64 without line breaks, or at an address. */
export type Source =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | null };

/** Text; never empty in a request. */
export interface TextPart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "text";
  /** The text, unchanged. */
  readonly text: string;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
  /** True for an instruction in the middle that keeps its role, in a user turn of a format whose turns alternate. */
  readonly isInstruction?: boolean;
  /** A signature that the content format attaches to text. */
  readonly signature?: ReasoningSignature;
  /** Web sources that a reply's text cites. */
  readonly citations?: readonly Citation[];
  /** The tokens of a reply's text with their probabilities, if requested. */
  readonly logprobs?: readonly TokenLogprob[];
}

/** A web source of a span of text. Offsets count UTF-16 units of that text and are null when not reported. */
export interface Citation {
  /** The page's address, as the vendor gave it. */
  readonly url: string;
  /** The page's title; null where the vendor gave none. */
  readonly title: string | null;
  /** Start of the span. */
  readonly start: number | null;
  /** End of the span, exclusive. */
  readonly end: number | null;
  /** The cited text of the page, if the vendor reports it. */
  readonly citedText?: string;
  /** The vendor's signature of the position on the page, to be sent back unchanged. */
  readonly signature?: ReasoningSignature;
}

/** A picture. */
export interface ImagePart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "image";
  /** Where the picture's bytes are. */
  readonly source: Source;
  /** Resolution at which the model reads the image: `auto`, `low`, `high`, `original`. */
  readonly detail?: string;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** A document: PDF, or plain text (then `mediaType` is `text/plain` and the data is base64 of UTF-8). */
export interface FilePart {
  /** Discriminates {@linkcode Part}. */
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
  /** Discriminates {@linkcode Part}. */
  readonly kind: "audio";
  /** Where the sound's bytes are. */
  readonly source: Source;
}

/** Moving pictures. */
export interface VideoPart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "video";
  /** Where the video's bytes are. */
  readonly source: Source;
}

/** A part whose bytes may be at an address. */
export type MediaPart = ImagePart | FilePart | AudioPart | VideoPart;

/** What a block of a user's message or of a tool's result can be read as in formats without sound and video. */
export type ShownPart = TextPart | ImagePart | FilePart;

/** The model's reasoning. The text may be empty when the vendor returns only a signature. */
export interface ReasoningPart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "reasoning";
  /** The reasoning, or the vendor's summary of it. */
  readonly text: string;
  /** The vendor's signature of the reasoning; absent when it sent none. */
  readonly signature?: ReasoningSignature;
  /** True when the vendor withholds the text and the signature holds it encrypted (`redacted_thinking`). */
  readonly redacted?: boolean;
  /** The vendor's id of the item (responses format). */
  readonly id?: string;
}

/** The model's statement that it will not answer, in formats that separate it from text. */
export interface RefusalPart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "refusal";
  /** The refusal, unchanged. */
  readonly text: string;
}

/** A call of a tool that the caller offered. */
export interface ToolCallPart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "tool_call";
  /** Identifies the call. The matching {@linkcode ToolResultPart} repeats it. */
  readonly callId: string;
  /** The name of the called {@linkcode Tool}. */
  readonly tool: string;
  /**
   * The arguments as JSON text, exactly as the model wrote them. May be invalid JSON; never empty (`{}` for no
   * arguments). For a custom tool, free text.
   */
  readonly input: string;
  /** True for a tool of kind `custom`. */
  readonly custom?: boolean;
  /** The vendor's signature of the reasoning that led to the call; absent when it sent none. */
  readonly signature?: ReasoningSignature;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** The result of a tool call. */
export interface ToolResultPart {
  /** Discriminates {@linkcode Part}. */
  readonly kind: "tool_result";
  /** The call that it belongs to, by {@linkcode ToolCallPart.callId}. */
  readonly callId: string;
  /** The tool's name, looked up from the call; null when the call is not in the conversation. */
  readonly tool: string | null;
  /** The result, in order; empty when the tool returned nothing. */
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
  /** True when the caller reports that the tool failed; always false in formats without such a field. */
  readonly isError: boolean;
  /** True for a tool of kind `custom`. */
  readonly custom?: boolean;
  /** Set when the prompt up to the end of this part may be cached. */
  readonly cache?: CacheMark;
}

/** A JSON Schema, unchanged or adapted to its target. */
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

/** Whether the model calls tools, and which. */
export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  | { readonly kind: "required" }
  | { readonly kind: "tool"; readonly tool: string }
  | { readonly kind: "allowed"; readonly mode: "auto" | "required"; readonly tools: readonly string[] };

/** The format of the reply's text. */
export type OutputFormat =
  | { readonly kind: "json" }
  | {
    readonly kind: "json_schema";
    readonly name: string;
    readonly description: string | null;
    readonly schema: JsonSchema;
    readonly strict: boolean | null;
  };

/** Settings for the choice of the next token. */
export interface Sampling {
  /** Randomness, from 0 (always the most likely token); null: the vendor's default. */
  readonly temperature: number | null;
  /** Probability mass of the most likely tokens to choose from, 0 to 1; null: the vendor's default. */
  readonly topP: number | null;
  /** Number of the most likely tokens to choose from; null: the vendor's default. */
  readonly topK: number | null;
  /** Lowers (negative: raises) the probability of tokens that have occurred; null when not set. */
  readonly presencePenalty: number | null;
  /** Lowers (negative: raises) the probability of tokens by how often they have occurred; null when not set. */
  readonly frequencyPenalty: number | null;
  /** Seed for repeatable output, as far as the vendor supports it; null when not set. */
  readonly seed: number | null;
  /** Texts at which the reply ends; empty for none. */
  readonly stop: readonly string[];
}

/** Sampling settings of a request that sets none. */
export const NO_SAMPLING: Sampling = {
  temperature: null,
  topP: null,
  topK: null,
  presencePenalty: null,
  frequencyPenalty: null,
  seed: null,
  stop: [],
};

/** Levels of reasoning effort, weakest first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** One of {@linkcode EFFORTS}. */
export type Effort = typeof EFFORTS[number];

/** How much the model is to reason, and whether the reasoning is returned. */
export interface ReasoningRequest {
  /** Null when only a budget, or nothing, was set. `none` turns reasoning off where the model allows it. */
  readonly effort: Effort | null;
  /** Maximum number of reasoning tokens; null when only an effort was set. */
  readonly budgetTokens: number | null;
  /** Whether the reasoning (or a summary) is returned in the reply; null for the vendor's default. */
  readonly visible: boolean | null;
  /** True when reasoning was turned on and its amount left to the model (`thinking: {type: "adaptive"}`). */
  readonly isAdaptive?: boolean;
}
