import { iteratorStream } from "../../../platform/lib/streams/output_stream.ts";
import { RequestedBreak } from "../../chunk_stream.ts";
import { bodyOf, type Call, isMissingModel } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { toneFile } from "../../tones.ts";
import { badParameter, checkPresent } from "./openai_fields.ts";
import { failureMessage } from "./openai_messages.ts";

const FIELDS: ReadonlySet<string> = new Set([
  "model",
  "input",
  "voice",
  "response_format",
  "speed",
  "instructions",
  "stream_format",
]);
const MAX_CHARACTERS = 4_096;
const CHUNK_BYTES = 1_600;

/**
 * `POST /v1/audio/speech`: a tone for each word. Every format but `pcm` has the bytes of a WAV file. Source: OpenAI API
 * reference, "Create speech".
 */
export async function speak(call: Call): Promise<Response> {
  const body = bodyOf(call, "We could not parse the JSON body of your request.");
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
  for (const name of ["model", "input", "voice"]) checkPresent(body, name);
  const model = String(body.model);
  if (isMissingModel(model)) {
    throw new SimulatedError(404, `The model \`${model}\` does not exist.`, { code: "model_not_found" });
  }
  const input = String(body.input);
  if (input.length > MAX_CHARACTERS) throw badParameter("input", "Invalid 'input': string too long.");
  const directives = await followDirectives(call, input, "openai", failureMessage);
  if (directives instanceof Response) return directives;
  const format = String(body.response_format ?? "mp3");
  const file = toneFile(directives.text);
  const audio = format === "pcm" ? file.slice(44) : file;
  const asEvents = body.stream_format === "sse";
  const chunks = chunksOf(audio, directives.cutAfter, asEvents);
  const type = asEvents ? "text/event-stream" : format === "mp3" ? "audio/mpeg" : `audio/${format}`;
  return new Response(iteratorStream(chunks), {
    headers: { "content-type": type, "x-request-id": call.requestId },
  });
}

async function* chunksOf(
  audio: Uint8Array<ArrayBuffer>,
  cutAfter: number | null,
  asEvents: boolean,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const event = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
  for (let at = 0, sent = 0; at < audio.length; at += CHUNK_BYTES, sent++) {
    if (sent === cutAfter) throw new RequestedBreak("cut");
    const chunk = audio.slice(at, at + CHUNK_BYTES);
    yield asEvents ? event({ type: "speech.audio.delta", audio: chunk.toBase64() }) : chunk;
  }
  if (asEvents) yield event({ type: "speech.audio.done" });
}
