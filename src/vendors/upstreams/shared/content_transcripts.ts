import { content } from "../../../conversation/codecs/content/mod.ts";
import { modelFacts } from "../../../conversation/models/known_models.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { emptyReplyFailure, GeneratedContent, tokensOfModality } from "./generated_content.ts";
import { base64Of, jsonBody } from "../contract/inline_file.ts";
import type { ModelPaths } from "./model_paths.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type {
  TranscriptOrder,
  TranscriptOutcome,
  TranscriptReport,
  TranscriptUpstream,
} from "../contract/transcript_upstream.ts";
import { wholeRequestOptions } from "./whole_request_options.ts";

/** The fields of a form that are sent: in the instruction, and as a setting. */
const SENT = ["language", "prompt", "temperature"];
const ENCODER = new TextEncoder();

/** The vendor's media types by the extension of the file. Source: Vertex AI documentation, "Audio understanding". */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mp3",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  aac: "audio/aac",
  m4a: "audio/m4a",
  mp4: "audio/mp4",
  webm: "audio/webm",
};

/**
 * Transcriptions and translations by Gemini's models, through content generation: the audio is followed by an
 * instruction. There are no times and no speakers. Source: Gemini API reference, "Audio understanding".
 */
export function contentTranscripts(outbound: Outbound, pathOf: ModelPaths): TranscriptUpstream {
  return {
    unsupported({ format }) {
      if (format === "json" || format === "text") return null;
      const expected = "expected json or text, as this model's vendor reports no times and speakers";
      return { field: "response_format", expected };
    },
    dropped: ({ fields }) => [...new Set(fields.map(([name]) => name).filter((name) => !SENT.includes(name)))],
    transcribe: (order, exchange) =>
      outbound.json(
        "POST",
        pathOf(order.model, "generateContent"),
        requestFor(order),
        (response) => readOutcome(response, order, outbound),
        { ...wholeRequestOptions(exchange), readError: content.upstream.readError },
      ),
  };
}

function requestFor(order: TranscriptOrder) {
  const { file, filename, fields, model } = order;
  const extension = filename.slice(filename.lastIndexOf(".") + 1);
  const mimeType = ownValue(MEDIA_TYPES, extension) ?? file.mediaType;
  const temperature = fields.find(([name]) => name === "temperature")?.[1];
  const settings = {
    ...temperature !== undefined && { temperature: Number(temperature) },
    ...thinkingOf(model),
  };
  return jsonBody({
    contents: [{ role: "user", parts: [{ inlineData: { mimeType, data: base64Of(file) } }, { text: textFor(order) }] }],
    ...Object.keys(settings).length > 0 && { generationConfig: settings },
  });
}

/** The instruction: the words of the caller's prompt are an example of spelling, as at OpenAI. */
function textFor({ translates, fields }: TranscriptOrder): string {
  const valueOf = (wanted: string) => fields.find(([name, value]) => name === wanted && value !== "")?.[1];
  const [language, prompt] = [valueOf("language"), valueOf("prompt")];
  return [
    translates
      ? "Translate what is said in the audio into English, completely."
      : "Write down what is said in the audio, word for word, in the language in which it is said.",
    "Answer with the text alone: no introduction, no times, no names of speakers, no formatting.",
    "If nothing is said, answer with nothing.",
    ...language === undefined ? [] : [`The language of the audio: ${language}`],
    ...prompt === undefined ? [] : [`Words and spellings that can occur, or the text before the audio: ${prompt}`],
  ].join("\n");
}

/** The least reasoning that a model accepts: it is billed as output, and writing down what is said needs none. */
function thinkingOf(model: string): JsonObject {
  const facts = modelFacts(model, { id: model, supportedParameters: [] });
  if (!facts.canReason) return {};
  const least = facts.efforts?.[0];
  if (facts.reasoningControl === "budget") {
    return { thinkingConfig: { thinkingBudget: least === "none" ? 0 : facts.budget?.min ?? 0 } };
  }
  return least === undefined ? {} : { thinkingConfig: { thinkingLevel: least.toUpperCase() } };
}

function readOutcome(body: unknown, { format }: TranscriptOrder, outbound: Outbound): TranscriptOutcome {
  const response = GeneratedContent.parse(body);
  const [candidate] = response.candidates ?? [];
  const parts = candidate?.content?.parts ?? [];
  const text = parts.flatMap((part) => part.thought || !part.text ? [] : [part.text]).join("").trim();
  if (candidate?.finishReason === "MAX_TOKENS") {
    throw outbound.failure("invalid", "The text exceeds the model's output limit: send shorter audio", {
      field: "file",
      vendorCode: "MAX_TOKENS",
    });
  }
  // Audio in which nothing is said has no text.
  if (text === "" && candidate?.finishReason !== "STOP") throw emptyReplyFailure(response, "text", outbound);
  const report = reportIn(response.usageMetadata);
  return { bytes: ENCODER.encode(format === "text" ? text : written(text, report)), characters: text.length, report };
}

const NO_REPORT: TranscriptReport = { seconds: null, textTokens: null, audioTokens: null, outputTokens: null };

function reportIn(usage: GeneratedContent["usageMetadata"]): TranscriptReport {
  if (!usage) return NO_REPORT;
  const { promptTokenCount, promptTokensDetails, candidatesTokenCount, thoughtsTokenCount } = usage;
  // Without details the prompt counts as audio, which is never cheaper.
  const textTokens = tokensOfModality(promptTokensDetails, "TEXT");
  return {
    seconds: null,
    textTokens,
    audioTokens: promptTokenCount - textTokens,
    outputTokens: candidatesTokenCount + thoughtsTokenCount,
  };
}

/** Source: OpenAI API reference, "Create transcription", `usage`. */
function written(text: string, { textTokens, audioTokens, outputTokens }: TranscriptReport): string {
  const counts = [textTokens, audioTokens, outputTokens];
  const areCounts = counts.every((count) => typeof count === "number" && count >= 0);
  if (!areCounts) return JSON.stringify({ text });
  const [text_tokens = 0, audio_tokens = 0, output_tokens = 0] = counts.map(Number);
  const input_tokens = text_tokens + audio_tokens;
  return JSON.stringify({
    text,
    usage: {
      type: "tokens",
      input_tokens,
      input_token_details: { text_tokens, audio_tokens },
      output_tokens,
      total_tokens: input_tokens + output_tokens,
    },
  });
}
