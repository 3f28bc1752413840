import type { JsonObject } from "../../json.ts";

/** A conversation of the playground, which each protocol writes in its own form. */

/** The four protocols of texts. */
export type ProtocolName = "chat" | "responses" | "messages" | "content";

/** A picture, a recording or another file. */
export interface Media {
  readonly kind: "media";
  readonly name: string;
  readonly mediaType: string;
  /** In base64. */
  readonly data: string;
}

/** A text of a message. */
export interface TextPart {
  readonly kind: "text";
  readonly text: string;
}

/** What a person writes. */
export interface UserMessage {
  readonly role: "user";
  readonly parts: readonly (TextPart | Media)[];
}

/** A call of a tool. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it, which may be incomplete. */
  readonly input: string;
}

/** The answer of a model. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly Call[];
  /** The answer as its protocol writes it in the next request, with signatures of reasoning. */
  readonly own: { readonly protocol: ProtocolName; readonly value: unknown } | null;
}

/** The result of a call. */
export interface CallResult extends Pick<Call, "id" | "name"> {
  readonly text: string;
}

/** The results of the calls of the answer before. */
export interface ToolMessage {
  readonly role: "tool";
  readonly results: readonly CallResult[];
}

/** A message of a conversation. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A tool that a model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: JsonObject;
  /** The result that is proposed for a call. */
  readonly mockResult: string;
}

/** How much a model thinks; `default` leaves it to the model. */
export type Thinking = "default" | "off" | "low" | "medium" | "high";

/** What a request has besides its messages. */
export interface ChatSettings {
  readonly model: string;
  /** Whether the model answers with pictures, which the content protocol has to request. */
  readonly makesImages: boolean;
  /** Empty for none. */
  readonly system: string;
  /** Null for the model's default. */
  readonly temperature: number | null;
  /** Null for the model's default. */
  readonly maxTokens: number | null;
  readonly thinking: Thinking;
  readonly tools: readonly Tool[];
  /** The JSON Schema of the answer; null for free text. */
  readonly schema: JsonObject | null;
}

/** A request as it is sent. */
export interface WrittenRequest {
  readonly protocol: ProtocolName;
  /** The model, which the content protocol has in its path. */
  readonly model: string;
  /** With its query. */
  readonly path: string;
  readonly body: JsonObject;
}

/** The name of the schema of an answer, where a protocol needs one. */
export const SCHEMA_NAME = "answer";

/** An answer in the form of a protocol; null if it came in another one. */
export function ownFormOf({ own }: Pick<AssistantMessage, "own">, protocol: ProtocolName): unknown {
  return own?.protocol === protocol ? own.value : null;
}
