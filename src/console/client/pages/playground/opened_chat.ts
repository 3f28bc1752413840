import type { AssistantMessage, Call, CallResult, Media, Message, TextPart, Tool } from "./conversation.ts";
import { type JsonObject, objectIn, textIn } from "../../json.ts";

/** A request of the log as the chat of the playground shows it. */
export interface OpenedChat {
  readonly system: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly tools: readonly Omit<Tool, "mockResult">[];
  /** Null for free text. */
  readonly schema: JsonObject | null;
  readonly messages: readonly Message[];
}

/** Collects the messages of a request. Results that follow each other are one message. */
export class OpenedMessages {
  readonly messages: Message[] = [];
  /** The names of tools by the ids of their calls. */
  readonly #names = new Map<string, string>();

  /** Adds what a person has written. */
  user(parts: readonly (TextPart | Media)[]): void {
    if (parts.length > 0) this.messages.push({ role: "user", parts });
  }

  /** Adds an answer. */
  assistant(text: string, calls: readonly Call[], own: AssistantMessage["own"]): void {
    for (const { id, name } of calls) this.#names.set(id, name);
    if (text !== "" || calls.length > 0) this.messages.push({ role: "assistant", text, calls, own });
  }

  /** Adds a call to the answer before, or as an answer of its own. */
  call(call: Call): void {
    const last = this.messages.at(-1);
    this.#names.set(call.id, call.name);
    if (last?.role !== "assistant") return this.assistant("", [call], null);
    this.messages[this.messages.length - 1] = { ...last, calls: [...last.calls, call] };
  }

  /** Adds the result of a call. */
  result({ id, text }: Pick<CallResult, "id" | "text">, name = this.#names.get(id) ?? ""): void {
    const last = this.messages.at(-1);
    const result = { id, name, text };
    if (last?.role !== "tool") this.messages.push({ role: "tool", results: [result] });
    else this.messages[this.messages.length - 1] = { ...last, results: [...last.results, result] };
  }
}

/** A text of a message. */
export function textPart(text: string): TextPart {
  return { kind: "text", text };
}

/** The file of a data URL; its address as text if it is anything else. */
export function fileIn(url: string, name = "file"): Media | TextPart {
  const [, mediaType, data] = /^data:([^;,]+);base64,([^]*)$/.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? textPart(url) : { kind: "media", name, mediaType, data };
}

/** A text, or the texts of a list of parts. */
export function textsIn(content: unknown): string {
  if (!Array.isArray(content)) return textIn(content);
  return content.map((part) => textIn(objectIn(part).text)).filter((text) => text !== "").join("\n");
}

/** A number, or null. */
export function optionalNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** A JSON Schema, or null. */
export function optionalSchema(value: unknown): JsonObject | null {
  return value === undefined || value === null ? null : objectIn(value);
}
