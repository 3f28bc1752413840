import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { namesIn, RECORDING_FOLDERS } from "../../../support/recordings.ts";

/** One recorded call: the request, if recorded, and the reply; a stream as its chunks. */
export interface Recording {
  readonly name: string;
  readonly request: JsonObject | null;
  readonly whole: JsonObject | null;
  readonly chunks: readonly JsonObject[] | null;
}

/** All recorded successful calls of generateContent and streamGenerateContent. */
export function contentRecordings(): Recording[] {
  return RECORDING_FOLDERS.flatMap((folder) => [
    ...filesIn(folder, "google/").flatMap(readPlain),
    ...filesIn(folder, "google/exchanges/").flatMap(readExchanges),
    ...filesIn(folder, "cross-provider/exchanges/").flatMap(readExchanges),
    ...filesIn(folder, "media/google-gemini/").flatMap(readMediaFile),
    ...filesIn(folder, "media/google-vertex/").flatMap(readMediaFile),
  ]);
}

interface RecordedFile {
  readonly name: string;
  readonly text: string;
}

function filesIn(folder: string, path: string): RecordedFile[] {
  return namesIn(`${folder}/${path}`).map((name) => ({
    name: path + name,
    text: Deno.readTextFileSync(`${folder}/${path}${name}`),
  }));
}

function readPlain({ name, text }: RecordedFile): Recording[] {
  if (name.endsWith(".chunks.txt")) {
    return [{ name, request: null, whole: null, chunks: linesOf(text) }];
  }
  if (name.endsWith(".jsonl.txt")) {
    return linesOf(text).filter((line) => line.method !== "countTokens").map((line, at) => {
      const { response } = line;
      return Array.isArray(response)
        ? { name: `${name} ${at}`, request: null, whole: null, chunks: response }
        : { name: `${name} ${at}`, request: null, whole: response as JsonObject, chunks: null };
    });
  }
  const whole = JSON.parse(text);
  return whole.candidates ? [{ name, request: null, whole, chunks: null }] : [];
}

function linesOf(text: string): JsonObject[] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
}

function readExchanges({ name, text }: RecordedFile): Recording[] {
  const recordings: Recording[] = [];
  for (const { request, response } of JSON.parse(text).exchanges) {
    if (!/:(stream)?[gG]enerateContent(\?|$)/.test(request.path) || response.status !== 200) continue;
    const chunks = response.text === undefined ? null : chunksOf(response.text);
    recordings.push({ name, request: request.body, whole: chunks === null ? response.body : null, chunks });
  }
  return recordings;
}

/** Frames of this vendor end with CRLF CRLF. */
function chunksOf(text: string): JsonObject[] {
  return text.split("\r\n\r\n").filter((frame) => frame.startsWith("data: ")).map((frame) =>
    JSON.parse(frame.slice(6))
  );
}

function readMediaFile({ name, text }: RecordedFile): Recording[] {
  const { operation, request, response } = JSON.parse(text);
  if (!operation.includes(":generateContent")) return [];
  return [{ name, request: request.body, whole: response.body, chunks: null }];
}
