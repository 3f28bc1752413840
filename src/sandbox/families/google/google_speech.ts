import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type Call, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { toneSamples } from "../../tones.ts";
import { fieldOf, listIn } from "./google_fields.ts";

const BYTES_PER_SECOND = 48_000;
const TOKENS_PER_SECOND = 25;
const UNAVAILABLE = "The model is overloaded. Please try again later.";

/** Whether a request asks for audio and nothing else. */
export function wantsAudio(body: JsonObject): boolean {
  const config = fieldOf(body, "generationConfig");
  return isObject(config) && listOf(fieldOf(config, "responseModalities")).includes("AUDIO");
}

/**
 * Speaks a tone for each word: samples of 24 kHz. A refusal has a success status. Source: Gemini API reference, "Speech
 * generation".
 */
export async function makeSpeech(call: Call, body: JsonObject, model: string): Promise<Response> {
  checkVoice(body);
  const parts = listIn(body.contents).flatMap((content) => listIn(content.parts));
  const text = parts.map((part) => String(part.text ?? "")).join("\n");
  if (text.trim() === "") throw invalid("contents: a text to speak is required");
  const directives = await followDirectives(call, text, "google", () => UNAVAILABLE);
  if (directives instanceof Response) return directives;
  const samples = toneSamples(directives.text);
  const styles = parts.map((part) => fieldOf(part, "speechMetadata")).filter(isObject).map(({ style }) => style);
  const prompt = tokensOf(directives.text) + tokensOf(styles.join(" "));
  const made = Math.ceil(samples.length / BYTES_PER_SECOND * TOKENS_PER_SECOND);
  const answer = (candidate: JsonObject) =>
    jsonResponse({
      candidates: [{ index: 0, ...candidate }],
      ...directives.noUsage ? {} : {
        usageMetadata: {
          promptTokenCount: prompt,
          candidatesTokenCount: made,
          totalTokenCount: prompt + made,
          promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
          candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: made }],
        },
      },
      modelVersion: model,
      responseId: call.requestId,
    });
  if (directives.refuses) return answer({ finishReason: "PROHIBITED_CONTENT" });
  const inlineData = { mimeType: "audio/L16;codec=pcm;rate=24000", data: samples.toBase64() };
  return answer({ content: { role: "model", parts: [{ inlineData }] }, finishReason: "STOP" });
}

function checkVoice(body: JsonObject): void {
  const config = fieldOf(body, "generationConfig");
  const speech = isObject(config) ? fieldOf(config, "speechConfig") : undefined;
  const voice = isObject(speech) ? fieldOf(speech, "voiceConfig") : undefined;
  const prebuilt = isObject(voice) ? fieldOf(voice, "prebuiltVoiceConfig") : undefined;
  const name = isObject(prebuilt) ? fieldOf(prebuilt, "voiceName") : isObject(voice) ? voice.voice : undefined;
  if (name === undefined) return;
  if (typeof name !== "string" || !/^[A-Za-z0-9._-]{1,100}$/.test(name)) throw invalid("Voice name is not supported.");
}

function invalid(message: string): SimulatedError {
  return new SimulatedError(400, `* GenerateContentRequest.${message}\n`);
}
