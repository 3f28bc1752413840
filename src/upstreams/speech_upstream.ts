import type { JsonObject } from "../lib/json_object.ts";
import type { WholeExchange } from "./whole_exchange.ts";

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

/** Audio whose first bytes have arrived. */
export interface SpeechOutcome {
  /** The media type that the vendor states, without parameters. */
  readonly mediaType: string;
  /** Fails if the vendor's stream breaks off. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The speech of one provider. */
export interface SpeechUpstream {
  /**
   * Speaks a text.
   *
   * @throws {UpstreamFailure} `broken` also for a reply that is empty or no audio.
   */
  speak(order: SpeechOrder, exchange: WholeExchange): Promise<SpeechOutcome>;
}
