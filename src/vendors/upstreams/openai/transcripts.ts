import * as z from "zod";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { checkValueCount } from "../../../platform/lib/json/json_values.ts";
import type { EndpointPaths } from "../shared/endpoint_paths.ts";
import { type FormField, multipartBody } from "../contract/multipart_body.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type {
  TranscriptOrder,
  TranscriptOutcome,
  TranscriptReport,
  TranscriptUpstream,
} from "../contract/transcript_upstream.ts";

const MAX_REPLY_BYTES = 20_000_000;
/** The words of some hours, with their times. Subtitles are counted as if they were JSON, and have fewer. */
const MAX_REPLY_VALUES = 350_000;

const anything = () => z.unknown().optional();
const Reply = z.object({
  text: z.string(),
  duration: anything(),
  usage: z.object({
    seconds: anything(),
    input_tokens: anything(),
    output_tokens: anything(),
    input_token_details: z.object({ text_tokens: anything(), audio_tokens: anything() }).nullish(),
  }).nullish(),
});

const NO_REPORT: TranscriptReport = { seconds: null, textTokens: null, audioTokens: null, outputTokens: null };
const ENCODER = new TextEncoder();

/**
 * Transcriptions and translations of OpenAI and compatible vendors. Source: OpenAI API reference, "Create
 * transcription", "Create translation".
 */
export function openaiTranscripts(
  outbound: Outbound,
  pathOf: EndpointPaths,
): TranscriptUpstream {
  return {
    unsupported: () => null,
    dropped: () => [],
    async transcribe(order, { reserve, onResponse }) {
      const response = await outbound.send({
        method: "POST",
        path: pathOf(order.translates ? "/audio/translations" : "/audio/transcriptions", order.model),
        headers: {},
        body: multipartBody(fieldsOf(order)),
        firstByteMs: outbound.firstByteMs,
        callerSignal: null,
        readError: chat.upstream.readError,
      });
      onResponse(response);
      const { mediaType } = response;
      const bytes = await response.readAll(MAX_REPLY_BYTES, reserve);
      try {
        await checkValueCount(bytes, MAX_REPLY_VALUES);
        return readOutcome(bytes, mediaType, order);
      } catch (cause) {
        throw outbound.failure("broken", "", { accepted: "unknown", cause });
      }
    },
  };
}

function fieldsOf({ model, format, fields, file, filename }: TranscriptOrder): FormField[] {
  const texts = [["model", model], ["response_format", format], ...fields] as const;
  return [...texts.map(([name, text]) => ({ name, text })), { name: "file", file, filename }];
}

/** Throws for a reply in another format. */
function readOutcome(
  bytes: Uint8Array<ArrayBuffer>,
  mediaType: string,
  { format }: TranscriptOrder,
): TranscriptOutcome {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (format === "json" || format === "verbose_json" || format === "diarized_json") {
    const reply = Reply.parse(JSON.parse(text));
    return { bytes, characters: reply.text.length, report: reportIn(reply) };
  }
  if (mediaType === "application/json") {
    // Some vendors answer the format `text` in JSON.
    const reply = Reply.parse(JSON.parse(text));
    if (format !== "text") throw new TypeError("The reply is no list of subtitles");
    return { bytes: ENCODER.encode(reply.text), characters: reply.text.length, report: reportIn(reply) };
  }
  if (mediaType === "text/html") throw new TypeError("The reply is a page");
  return { bytes, characters: text.length, report: NO_REPORT };
}

function reportIn({ duration, usage }: z.infer<typeof Reply>): TranscriptReport {
  const { text_tokens, audio_tokens } = usage?.input_token_details ?? {};
  return {
    seconds: usage?.seconds ?? (typeof duration === "string" ? Number(duration) : duration) ?? null,
    textTokens: text_tokens ?? null,
    audioTokens: audio_tokens ?? (text_tokens === undefined ? usage?.input_tokens : null) ?? null,
    outputTokens: usage?.output_tokens ?? null,
  };
}
