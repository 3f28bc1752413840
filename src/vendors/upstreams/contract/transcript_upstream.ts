import type { FormFile } from "./multipart_body.ts";
import type { UnsupportedField } from "./unsupported_field.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

/** Audio to write down, in the format of OpenAI. */
export interface TranscriptOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Whether the text is translated into English. */
  readonly translates: boolean;
  /** The audio. */
  readonly file: FormFile;
  /** Vendors tell the format of the audio by its extension. */
  readonly filename: string;
  /** The requested format of the reply. */
  readonly format: TranscriptFormat;
  /** Further fields of the form, in their order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** The formats of a reply. Source: OpenAI API reference, "Create transcription", `response_format`. */
export const TRANSCRIPT_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;

/** A format of a reply. */
export type TranscriptFormat = typeof TRANSCRIPT_FORMATS[number];

/** What a vendor reports, as it wrote it; null where it reports nothing. */
export interface TranscriptReport {
  /** The length of the audio in seconds. */
  readonly seconds: unknown;
  /** Tokens of text in the prompt. */
  readonly textTokens: unknown;
  /** Tokens of audio in the prompt. */
  readonly audioTokens: unknown;
  /** Tokens of the text in the reply. */
  readonly outputTokens: unknown;
}

/** A vendor's reply. */
export interface TranscriptOutcome {
  /** The body in the requested format. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The characters of the text. */
  readonly characters: number;
  /** What is charged follows from it. */
  readonly report: TranscriptReport;
}

/** The transcriptions and translations of one provider. */
export interface TranscriptUpstream {
  /** What of an order the vendor's format lacks; null if it can be sent. */
  unsupported(order: Pick<TranscriptOrder, "format">): UnsupportedField | null;
  /** The fields of an order that are not sent. */
  dropped(order: Pick<TranscriptOrder, "fields">): readonly string[];
  /**
   * Writes audio down.
   *
   * @throws {UpstreamFailure} `broken` also for a reply in another format.
   */
  transcribe(order: TranscriptOrder, exchange: WholeExchange): Promise<TranscriptOutcome>;
}
