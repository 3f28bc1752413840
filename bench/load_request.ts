/** The wire formats of callers and upstreams. */
export type BenchFormat = "chat" | "messages" | "content";

/**
 * The upstream's kind of reply. `json`: a whole JSON reply of 1 KB. `burst`: a stream in one write. `paced`: a stream
 * with one chunk every {@linkcode PACE_MS}.
 */
export type Mode = "json" | "burst" | "paced";

/** Every mode. */
export const MODES: readonly Mode[] = ["json", "burst", "paced"];

/** Every wire format. */
export const BENCH_FORMATS: readonly BenchFormat[] = ["chat", "messages", "content"];

/** Text chunks in a stream of each mode. */
export const CHUNKS: Readonly<Record<"burst" | "paced", number>> = { burst: 200, paced: 64 };

/** Milliseconds between two chunks of a paced stream. */
export const PACE_MS = 20;

/** The milliseconds that a paced stream lasts at the upstream. */
export const STREAM_MS = (CHUNKS.paced - 1) * PACE_MS;

/** The size of a request body that is called small: about 1 KB. */
export const SMALL_BODY_BYTES = 1000;

/** A request that is sent repeatedly. */
export interface LoadRequest {
  /** A port on loopback. */
  readonly port: number;
  /** Path with query. */
  readonly path: string;
  /** Headers without `host` and `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request body says. */
export interface BodyOptions {
  readonly model: string;
  readonly mode: Mode;
  /** Its size in bytes, met to within a few hundred; at least {@linkcode SMALL_BODY_BYTES}. */
  readonly bytes: number;
}

/** A request body of a wire format; the content format has model and streaming in its path. */
export function bodyOf(wire: BenchFormat, { model, mode, bytes }: BodyOptions): string {
  const stream = isStream(mode) ? { stream: true } : {};
  const turns = turnsOf(bytes);
  switch (wire) {
    case "chat":
      return JSON.stringify({ model, ...stream, messages: turns });
    case "messages":
      return JSON.stringify({ model, max_tokens: 1000, ...stream, messages: turns });
    case "content":
      return JSON.stringify({
        contents: turns.map(({ role, content }) => ({
          role: role === "user" ? "user" : "model",
          parts: [{ text: content }],
        })),
      });
  }
}

/** Whether a mode's reply is a stream. */
export function isStream(mode: Mode): boolean {
  return mode !== "json";
}

/** The request as bytes on the wire. */
export function encodeRequest({ port, path, headers, body }: LoadRequest): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(body);
  let head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
  const headBytes = encoder.encode(`${head}content-length: ${bytes.length}\r\n\r\n`);
  const request = new Uint8Array(headBytes.length + bytes.length);
  request.set(headBytes);
  request.set(bytes, headBytes.length);
  return request;
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

const MAX_TURN_BYTES = 2000;
/** The JSON around a turn. */
const TURN_OVERHEAD_BYTES = 60;
/** With quotes and a line end, as in real prompts: a reader must look at escapes. */
const SENTENCE = 'The quick brown fox jumps over the lazy dog, says "hello" to everyone, and asks about the weather.\n';

/** A conversation of about that many bytes, which begins and ends with the user. */
function turnsOf(bytes: number): Turn[] {
  const size = Math.min(bytes, MAX_TURN_BYTES) - TURN_OVERHEAD_BYTES * 2;
  const content = SENTENCE.repeat(Math.max(1, Math.floor(size / JSON.stringify(SENTENCE).length)));
  const count = Math.max(1, Math.round(bytes / (JSON.stringify(content).length + TURN_OVERHEAD_BYTES / 2)));
  return Array.from({ length: count % 2 === 1 ? count : count + 1 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content,
  }));
}
