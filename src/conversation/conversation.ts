import type { Seal } from "./seal.ts";

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
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  /** False forbids more than one call in a reply; null leaves it to the vendor. */
  readonly parallelToolCalls: boolean | null;
  readonly outputFormat: OutputFormat | null;
  /** Most tokens of the reply, reasoning included. */
  readonly maxOutputTokens: number | null;
  readonly sampling: Sampling;
  readonly reasoning: ReasoningRequest | null;
  readonly stream: boolean;
  /** The caller's name for its own user (`user`, `safety_identifier`, `metadata.user_id`). */
  readonly user: string | null;
  /** A hint that requests with equal keys share a prefix (`prompt_cache_key`). */
  readonly cacheKey: string | null;
  /** How long an answer is wanted: `low`, `medium`, `high`. */
  readonly verbosity: string | null;
  /** Dotted names, in the caller's spelling, of fields that were sent and that this form has no word for. */
  readonly beyond: readonly string[];
}

/** Who speaks, and what. A `system` turn is an instruction given in the middle of the conversation (text only). */
export interface Turn {
  readonly role: "user" | "assistant" | "system";
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
  | ToolResultPart;

/** A mark that everything up to here may be kept in the vendor's prompt cache (`cache_control`). */
export interface CacheMark {
  readonly ttl: "5m" | "1h" | null;
}

/** Where media bytes are: in the request, as standard base64 without line ends, or at an address. */
export type Source =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | null };

/** Text; never empty in a request. */
export interface TextPart {
  readonly kind: "text";
  readonly text: string;
  readonly cache?: CacheMark;
  /** A proof that the content form puts on text. */
  readonly seal?: Seal;
  /** Web sources that a reply's text names. */
  readonly citations?: readonly Citation[];
}

/** A web address that a stretch of text rests on; offsets count UTF-16 units of that text, null where not given. */
export interface Citation {
  readonly url: string;
  readonly title: string | null;
  readonly start: number | null;
  readonly end: number | null;
}

/** A picture. */
export interface ImagePart {
  readonly kind: "image";
  readonly source: Source;
  /** How closely to look: `auto`, `low`, `high`, `original`. */
  readonly detail?: string;
  readonly cache?: CacheMark;
}

/** A document: PDF, or plain text (then `mediaType` is `text/plain` and the data is base64 of UTF-8). */
export interface FilePart {
  readonly kind: "file";
  readonly source: Source;
  readonly name: string | null;
  readonly cache?: CacheMark;
}

/** Sound. */
export interface AudioPart {
  readonly kind: "audio";
  readonly source: Source;
}

/** Moving pictures. */
export interface VideoPart {
  readonly kind: "video";
  readonly source: Source;
}

/** A part whose bytes may be at an address. */
export type MediaPart = ImagePart | FilePart | AudioPart | VideoPart;

/** Thinking. The text may be empty when only its seal is shown. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
  readonly seal?: Seal;
  /** True when the vendor hides the text altogether and the seal carries it (`redacted_thinking`). */
  readonly redacted?: boolean;
  /** The vendor's id of the item (responses form). */
  readonly id?: string;
}

/** The model's own words that it will not answer, where its form sets them apart from text. */
export interface RefusalPart {
  readonly kind: "refusal";
  readonly text: string;
}

/** A call of a tool that the caller offered. */
export interface ToolCallPart {
  readonly kind: "tool_call";
  readonly callId: string;
  readonly tool: string;
  /**
   * The arguments as JSON text, exactly as the model wrote them: possibly not valid JSON, never empty (`{}` when the
   * model gave none). For a custom tool, free text.
   */
  readonly input: string;
  /** True for a tool of kind `custom`. */
  readonly custom?: boolean;
  readonly seal?: Seal;
  readonly cache?: CacheMark;
}

/** What a tool answered. */
export interface ToolResultPart {
  readonly kind: "tool_result";
  readonly callId: string;
  /** The tool's name, looked up from the call; null when the call is not in the conversation. */
  readonly tool: string | null;
  readonly parts: readonly (TextPart | ImagePart | FilePart)[];
  readonly isError: boolean;
  /** True for a tool of kind `custom`. */
  readonly custom?: boolean;
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
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  readonly seed: number | null;
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
