/** The wire forms that a caller or an upstream can speak. */
export type Wire = "chat" | "messages" | "content";

/**
 * How the upstream answers: a whole JSON reply; a stream in one go; a stream with one chunk every {@linkcode PACE_MS};
 * a stream whose first chunk comes at once and the rest one pace later, for the time to the first token.
 */
export type Mode = "json" | "burst" | "paced" | "brief";

/** Every mode. */
export const MODES: readonly Mode[] = ["json", "burst", "paced", "brief"];

/** Every wire form. */
export const WIRES: readonly Wire[] = ["chat", "messages", "content"];

/** Chunks of text in every stream. */
export const CHUNKS_PER_STREAM = 200;

/** Milliseconds between two chunks of a paced stream. */
export const PACE_MS = 5;

/** A request, ready to be sent over and over. */
export interface Ask {
  /** On loopback. */
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** Without `host` and `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the reply is a stream of events. */
  readonly stream: boolean;
}

/** What the caller says: with the JSON around it about 0.6 KB. */
const PROMPT = "hello ".repeat(80);

/** A request body of a wire form; the content form names model and streaming in its path. */
export function bodyOf(wire: Wire, model: string, mode: Mode): string {
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

/** The request in the form it has on the wire. */
export function writeAsk({ port, path, headers, body }: Ask): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body);
  let head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
  head += `content-length: ${bytes.length}\r\n\r\n`;
  return new Uint8Array([...new TextEncoder().encode(head), ...bytes]);
}
