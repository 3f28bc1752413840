import { type Call, isMissingModel, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { badParameter } from "./openai_fields.ts";
import { failureMessage } from "./openai_messages.ts";

const FIELDS: ReadonlySet<string> = new Set([
  "file",
  "model",
  "language",
  "prompt",
  "response_format",
  "temperature",
  "chunking_strategy",
  "timestamp_granularities[]",
  "include[]",
]);
const FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"];
const TOKENS_PER_SECOND = 10;
/** Of the sandbox's own speech: 8 kHz with 8 bits. */
const BYTES_PER_SECOND = 8_000;

/**
 * `POST /v1/audio/transcriptions` and `/v1/audio/translations`: the text is the prompt, or the size of the audio.
 * Source: OpenAI API reference, "Create transcription".
 */
export async function transcribe(call: Call): Promise<Response> {
  const { form } = call;
  if (form === null) throw new SimulatedError(400, "Unsupported content type: expected 'multipart/form-data'.");
  const unknown = [...form.keys()].find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
  const file = form.get("file");
  if (!(file instanceof File)) throw badParameter("file", "Missing required parameter: 'file'.");
  if (!/\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm|aac)$/.test(file.name)) {
    throw badParameter("file", "Invalid file format.");
  }
  const model = String(form.get("model") ?? "");
  if (model === "" || isMissingModel(model)) {
    throw new SimulatedError(404, `The model \`${model}\` does not exist.`, { code: "model_not_found" });
  }
  const prompt = String(form.get("prompt") ?? "");
  const directives = await followDirectives(call, prompt, "openai", failureMessage);
  if (directives instanceof Response) return directives;
  const format = String(form.get("response_format") ?? "json");
  if (!FORMATS.includes(format)) throw badParameter("response_format", "Invalid response_format.");
  const text = directives.text === "" ? `Audio of ${file.size} bytes.` : directives.text;
  const seconds = Math.max(1, Math.round(file.size / BYTES_PER_SECOND));
  return written({ text, seconds, prompt, format, noUsage: directives.noUsage, requestId: call.requestId });
}

interface Transcript {
  readonly text: string;
  readonly seconds: number;
  readonly prompt: string;
  readonly format: string;
  readonly noUsage: boolean;
  readonly requestId: string;
}

function written({ text, seconds, prompt, format, noUsage, requestId }: Transcript): Response {
  const headers = { "x-request-id": requestId };
  const plain = (body: string) =>
    new Response(body, { headers: { ...headers, "content-type": "text/plain; charset=utf-8" } });
  const time = (at: number, mark: string) => new Date(at * 1_000).toISOString().slice(11, 23).replace(".", mark);
  switch (format) {
    case "text":
      return plain(`${text}\n`);
    case "srt":
      return plain(`1\n${time(0, ",")} --> ${time(seconds, ",")}\n${text}\n\n`);
    case "vtt":
      return plain(`WEBVTT\n\n${time(0, ".")} --> ${time(seconds, ".")}\n${text}\n\n`);
    case "verbose_json": {
      const segments = [{ id: 0, start: 0, end: seconds, text }];
      const usage = noUsage ? {} : { usage: { type: "duration", seconds } };
      const reply = { task: "transcribe", language: "english", duration: seconds, text, segments, ...usage };
      return jsonResponse(reply, headers);
    }
    default: {
      const audio_tokens = seconds * TOKENS_PER_SECOND;
      const text_tokens = tokensOf(prompt);
      const input_tokens = audio_tokens + text_tokens;
      const output_tokens = tokensOf(text);
      const input_token_details = { text_tokens, audio_tokens };
      const total_tokens = input_tokens + output_tokens;
      const usage = { type: "tokens", input_tokens, input_token_details, output_tokens, total_tokens };
      return jsonResponse({ text, ...noUsage ? {} : { usage } }, headers);
    }
  }
}
