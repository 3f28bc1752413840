import { content } from "../../../conversation/codecs/content/mod.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { iteratorStream } from "../../../platform/lib/streams/output_stream.ts";
import { readWaveHeader, type SampleFormat, waveHeader } from "../../../platform/lib/collections/wave.ts";
import { emptyReplyFailure, GeneratedContent, tokensOfModality } from "./generated_content.ts";
import type { ModelPaths } from "./model_paths.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { SpeechOrder, SpeechOutcome, SpeechUpstream } from "../contract/speech_upstream.ts";
import type { UnsupportedField } from "../contract/unsupported_field.ts";

/** Eleven minutes of samples in base64: what a model can speak at most. */
const MAX_REPLY_BYTES = 67_108_864;
/** A multiple of four, so that each piece of base64 can be decoded. */
const PIECE_CHARACTERS = 262_144;
/** More than any header of a WAV file without a picture. */
const HEAD_CHARACTERS = 5_464;
/** Source: OpenAI API reference, "Create speech", `pcm`. */
const PCM: SampleFormat = { rate: 24_000, channels: 1, bitsPerSample: 16 };
const FORMATS = ["wav", "pcm"];

/**
 * Speech of Gemini's models, through content generation. A reply has uncompressed samples, or a WAV file of them.
 * Sources: Gemini API reference, "Speech generation"; Gemini Enterprise, "Migrate to Gemini 3.8 TTS".
 */
export function contentSpeech(outbound: Outbound, pathOf: ModelPaths): SpeechUpstream {
  return {
    unsupported: unsupportedIn,
    dropped: ({ extras }) => Object.keys(extras).filter((name) => name !== "instructions"),
    speak: (order, { reserve, onResponse }) =>
      outbound.json(
        "POST",
        pathOf(order.model, "generateContent"),
        requestFor(order),
        (response) => readOutcome(response, order, outbound),
        { capBytes: MAX_REPLY_BYTES, reserve, onResponse, readError: content.upstream.readError },
      ),
  };
}

function unsupportedIn({ format, asEvents }: Omit<SpeechOrder, "model">): UnsupportedField | null {
  if (format !== null && !FORMATS.includes(format)) {
    return { field: "response_format", expected: "expected wav or pcm, as this model's vendor has no other formats" };
  }
  if (!asEvents) return null;
  return { field: "stream_format", expected: "expected audio, as this model's vendor sends no events" };
}

/** Models that read the style in the text, and name a voice as one of the prebuilt ones. */
const EARLIER_MODELS = /(?:^|\/)gemini-(?:2\.5|3\.1)-/;

function requestFor({ model, input, voice, extras }: SpeechOrder): JsonObject {
  const { instructions } = extras;
  const style = typeof instructions === "string" && instructions !== "" ? instructions : null;
  const name = typeof voice === "string" ? voice : voice.id;
  const isEarlier = EARLIER_MODELS.test(model);
  const part = isEarlier
    ? { text: style === null ? input : `${style}\n\nSay exactly this:\n${input}` }
    : { text: input, ...style !== null && { speechMetadata: { style } } };
  return {
    contents: [{ role: "user", parts: [part] }],
    generationConfig: {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: isEarlier ? { prebuiltVoiceConfig: { voiceName: name } } : { voice: name } },
    },
  };
}

/** Samples in base64 as a vendor sends them. */
interface EncodedSamples {
  readonly format: SampleFormat;
  /** Each can be decoded on its own. */
  readonly parts: readonly string[];
  /** The bytes of the first part before the samples. */
  readonly start: number;
  /** The bytes of all samples. */
  readonly lengthBytes: number;
}

function readOutcome(body: unknown, { format }: SpeechOrder, outbound: Outbound): SpeechOutcome {
  const response = GeneratedContent.parse(body);
  const [candidate] = response.candidates ?? [];
  const sounds = (candidate?.content?.parts ?? []).flatMap(({ inlineData }) => inlineData ? [inlineData] : []);
  if (candidate?.finishReason === "MAX_TOKENS") {
    throw outbound.failure("invalid", "The speech exceeds the model's output limit: send a shorter text", {
      field: "input",
      vendorCode: "MAX_TOKENS",
    });
  }
  if (sounds.length === 0) throw emptyReplyFailure(response, "audio", outbound);
  const samples = samplesIn(sounds);
  if (format === "pcm" && !isPcm(samples.format)) throw new TypeError("The samples are not those of the format pcm");
  const { promptTokenCount, candidatesTokenCount, candidatesTokensDetails } = response.usageMetadata ?? {};
  const frameBytes = samples.format.channels * samples.format.bitsPerSample / 8;
  return {
    mediaType: format === "pcm" ? "audio/pcm" : "audio/wav",
    body: iteratorStream(bytesOf(samples, format !== "pcm")),
    report: {
      promptTokens: promptTokenCount ?? null,
      audioTokens: tokensOfModality(candidatesTokensDetails, "AUDIO") || (candidatesTokenCount ?? null),
      seconds: samples.lengthBytes / frameBytes / samples.format.rate,
    },
  };
}

function isPcm({ rate, channels, bitsPerSample }: SampleFormat): boolean {
  return rate === PCM.rate && channels === PCM.channels && bitsPerSample === PCM.bitsPerSample;
}

/** Throws for anything but samples of 16 bits, or one WAV file. */
function samplesIn(
  sounds: readonly { readonly mimeType?: string | null | undefined; readonly data: string }[],
): EncodedSamples {
  const parts = sounds.map(({ data }) => data);
  const bytes = parts.reduce((sum, data) => sum + decodedLength(data), 0);
  if (bytes === 0) throw new TypeError("The audio is empty");
  const type = sounds[0]?.mimeType?.toLowerCase() ?? "";
  // Before the request is charged, text that is no base64 is found here.
  const first = Uint8Array.fromBase64(parts[0]?.slice(0, HEAD_CHARACTERS) ?? "");
  if (/^audio\/(?:l16|pcm)\b/.test(type)) {
    const [rate, channels] = [/\brate=(\d{4,6})\b/.exec(type)?.[1], /\bchannels=([12])\b/.exec(type)?.[1]];
    const format = { ...PCM, ...rate && { rate: Number(rate) }, ...channels && { channels: Number(channels) } };
    return { format, parts, start: 0, lengthBytes: bytes };
  }
  const head = readWaveHeader(first);
  if (head === null || parts.length > 1) throw new TypeError("The audio is neither samples nor a WAV file");
  const { format, start } = head;
  return { format, parts, start, lengthBytes: Math.min(head.lengthBytes, bytes - start) };
}

function decodedLength(base64: string): number {
  let end = base64.length;
  while (end > 0 && base64[end - 1] === "=") end--; // a pattern would try each sign of a long run again
  return Math.floor(end / 4 * 3);
}

/** Decodes in pieces, so that long audio does not block other requests. */
async function* bytesOf(
  { format, parts, start, lengthBytes }: EncodedSamples,
  asFile: boolean,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (asFile) yield waveHeader(format, lengthBytes);
  let [skipped, left] = [start, lengthBytes];
  for (const part of parts) {
    for (let at = 0; at < part.length && left > 0; at += PIECE_CHARACTERS) {
      const piece = Uint8Array.fromBase64(part.slice(at, at + PIECE_CHARACTERS)).subarray(skipped).subarray(0, left);
      yield await Promise.resolve(piece);
      left -= piece.length;
      skipped = 0;
    }
  }
}
