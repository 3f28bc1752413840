/** The wire formats of callers and upstreams. */
export type BenchFormat = "chat" | "messages" | "content";

/**
 * The upstream's kind of reply. `json`: a whole JSON reply. `burst`: a stream in one write. `paced`: a stream with one
 * chunk every {@linkcode PACE_MS}. `brief`: a stream whose first chunk is sent at once and the rest one pace later, for
 * the time to the first token.
 */
export type Mode = "json" | "burst" | "paced" | "brief";

/** Every mode. */
export const MODES: readonly Mode[] = ["json", "burst", "paced", "brief"];

/** Every wire format. */
export const BENCH_FORMATS: readonly BenchFormat[] = ["chat", "messages", "content"];

/** Text chunks in every stream. */
export const CHUNKS_PER_STREAM = 200;

/** Milliseconds between two chunks of a paced stream. */
export const PACE_MS = 5;

/** A request that is sent repeatedly. */
export interface LoadRequest {
  /** A port on loopback. */
  readonly port: number;
  /** Path with query. */
  readonly path: string;
  /** Headers without `host` and `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the reply is an event stream. */
  readonly stream: boolean;
}

/** The caller's prompt: about 0.6 KB with the JSON around it. */
const PROMPT = "hello ".repeat(80);

/** A request body of a wire format; the content format has model and streaming in its path. */
export function bodyOf(wire: BenchFormat, model: string, mode: Mode): string {
  const stream = isStream(mode) ? { stream: true } : {};
  const messages = [{ role: "user", content: PROMPT }];
  switch (wire) {
    case "chat":
      return JSON.stringify({ model, ...stream, messages });
    case "messages":
      return JSON.stringify({ model, max_tokens: 1000, ...stream, messages });
    case "content":
      return JSON.stringify({ contents: [{ role: "user", parts: [{ text: PROMPT }] }] });
  }
}

/** Whether a mode's reply is a stream. */
export function isStream(mode: Mode): boolean {
  return mode !== "json";
}

/** The request as bytes on the wire. */
export function encodeRequest({ port, path, headers, body }: LoadRequest): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body);
  let head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
  head += `content-length: ${bytes.length}\r\n\r\n`;
  return new Uint8Array([...new TextEncoder().encode(head), ...bytes]);
}
