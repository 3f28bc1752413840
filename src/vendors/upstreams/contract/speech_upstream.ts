import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { UnsupportedField } from "./unsupported_field.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

/** A text to speak, in the format of OpenAI. */
export interface SpeechOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** The text. */
  readonly input: string;
  /** The name of a voice, or `{id}` of an own one. */
  readonly voice: string | JsonObject;
  /** The requested format of the audio; null for the vendor's default. */
  readonly format: string | null;
  /** Whether the audio is requested as a stream of events. */
  readonly asEvents: boolean;
  /** Further fields of the caller's request. */
  readonly extras: JsonObject;
}

/** What a vendor reports of the consumption, as it wrote it; null where it reports nothing. */
export interface SpeechReport {
  /** Tokens of the text. */
  readonly promptTokens: unknown;
  /** Tokens of the audio. */
  readonly audioTokens: unknown;
  /** The length of the audio. */
  readonly seconds: number;
}

/** Audio whose first bytes have arrived. */
export interface SpeechOutcome {
  /** The media type that the vendor states, without parameters. */
  readonly mediaType: string;
  /** Fails if the vendor's stream breaks off. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Null if the vendor bills characters, or its report comes after the audio. */
  readonly report: SpeechReport | null;
}

/** The speech of one provider. */
export interface SpeechUpstream {
  /** What of an order the vendor's format lacks; null if it can be sent. */
  unsupported(order: Omit<SpeechOrder, "model">): UnsupportedField | null;
  /** The fields of an order that are not sent. */
  dropped(order: Omit<SpeechOrder, "model">): readonly string[];
  /**
   * Speaks a text.
   *
   * @throws {UpstreamFailure} `broken` also for a reply that is empty or no audio.
   */
  speak(order: SpeechOrder, exchange: WholeExchange): Promise<SpeechOutcome>;
}
