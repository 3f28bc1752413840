import { Buffer } from "node:buffer";
import { plainPng, wavOfEmptyChunks } from "../tests/support/heavy_media.ts";

/** A heavy request. */
export interface HeavyCase {
  readonly name: string;
  /** Default: `POST`. */
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly contentType?: string;
  /** More header fields. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Created once, before the measurement. Null for none. */
  readonly body: (vendorPort: number) => string | Uint8Array<ArrayBuffer> | null;
  /** The number of such requests at a time. Default: 1. */
  readonly parallel?: number;
  /** Whether each request has a different `Idempotency-Key`. Default: false. */
  readonly isKeyed?: boolean;
  /** What is measured beside it. Default: a small chat request. */
  readonly beside?: "chat" | "search";
  /** When the caller disconnects, in milliseconds; by default it reads to the end. */
  readonly disconnectsAfterMs?: number;
}

const CHAT = "/v1/chat/completions";
const RESUMABLE: Readonly<Record<string, string>> = {
  comments: "comments",
  blanks: "blank lines",
  giant: "one event of 4 MB",
};

/** All known heavy requests. */
export const HEAVY_CASES: readonly HeavyCase[] = [
  { name: "three PNGs of 64 megapixels", path: "/v1/images/generations", body: largePictures },
  { name: "19 MB of JSON, 30,000 messages", path: CHAT, body: () => chat("small", messages(30_000, "x".repeat(600))) },
  { name: "19 MB of JSON, translated", path: CHAT, body: () => chat("messages", messages(30_000, "x".repeat(600))) },
  { name: "600,000 messages", path: CHAT, body: () => chat("small", messages(600_000, "")) },
  { name: "a 9 MB prompt whose caller disconnects", path: CHAT, body: leftPrompt, disconnectsAfterMs: 800 },
  { name: "10,000 tools", path: CHAT, body: () => chat("messages", messages(1, "x"), `,"tools":[${tools(10_000)}]`) },
  {
    name: "19 MB of empty lists",
    path: CHAT,
    body: () => chat("small", messages(1, "x"), `,"x":[${lists(19_000_000)}]`),
  },
  {
    name: "a prompt without blanks",
    path: CHAT,
    body: () => chat("endless", messages(1, "漢".repeat(30_000)), STREAM),
    disconnectsAfterMs: 300,
  },
  {
    name: "50 MB of small values to the video endpoint",
    path: "/v1/videos",
    body: () => `{"model":"bench/video","prompt":"x","x":[${lists(49_000_000)}]}`,
  },
  { name: "a sound file of empty chunks (20 MB)", path: "/v1/videos", body: slowSound },
  {
    name: "an image edit of 45 MB",
    path: "/v1/images/edits",
    contentType: "multipart/form-data; boundary=bench",
    body: edit,
  },
  { name: "a vendor's reply of 60 MB of small values", path: CHAT, body: () => chat("huge", messages(1, "x")) },
  { name: "that reply, translated", path: "/msgcompat/v1/messages", body: () => message("huge") },
  { name: "a vendor's stream of frames of 900 KB", path: CHAT, body: () => chat("frames", messages(1, "x"), STREAM) },
  { name: "that stream, translated", path: "/msgcompat/v1/messages", body: () => message("frames", STREAM) },
  { name: "a vendor's reply of 30 MB of text", path: CHAT, body: () => chat("novel", messages(1, "x")) },
  { name: "that text, translated", path: "/msgcompat/v1/messages", body: () => message("novel") },
  { name: "a vendor's reply of 3 MB of small values", path: CHAT, body: () => chat("lists", messages(1, "x")) },
  {
    name: "50,000 events in one chunk, to responses",
    path: "/v1/responses",
    body: () => `{"model":"bench/burst","input":"x"${STREAM}}`,
  },
  { name: "a flood of one-byte chunks", path: CHAT, body: () => chat("drops", messages(1, "x"), STREAM) },
  ...["comments", "blanks", "giant"].map((kind): HeavyCase => ({
    name: `a resumable stream of ${RESUMABLE[kind]}`,
    path: CHAT,
    headers: { "x-service-resume": "true" },
    body: () => chat(kind, messages(1, "x"), STREAM),
  })),
  {
    name: "40 dry runs that download pictures",
    path: CHAT,
    headers: { "x-service-dry-run": "true" },
    body: (vendorPort) => pictureChat(`http://127.0.0.1:${vendorPort}/pictures/a.png`),
    parallel: 40,
  },
  {
    name: "120 requests with idempotency keys",
    path: CHAT,
    body: () => chat("small", messages(1, "x")),
    parallel: 120,
    isKeyed: true,
  },
  { name: "40 reads of usage", method: "GET", path: "/v1/usage", body: () => null, parallel: 40 },
  { name: "nothing, a search of an operator", method: "GET", path: "/v1/key", body: () => null, beside: "search" },
  {
    name: "40 searches, a search of an operator",
    method: "GET",
    path: "/v1/requests?q=some%20text",
    body: () => null,
    parallel: 40,
    beside: "search",
  },
];

const STREAM = ',"stream":true';

function chat(model: string, said: string, rest = ""): string {
  return `{"model":"bench/${model}","messages":[${said}]${rest}}`;
}

function message(model: string, rest = ""): string {
  return `{"model":"bench/${model}","max_tokens":100,"messages":[${messages(1, "x")}]${rest}}`;
}

/** A picture by its address, which the vendor's format has no field for. */
function pictureChat(url: string): string {
  const content = [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url } }];
  return JSON.stringify({ model: "bench/look", max_tokens: 100, messages: [{ role: "user", content }] });
}

function messages(count: number, content: string): string {
  return new Array(count).fill(JSON.stringify({ role: "user", content })).join(",");
}

function tools(count: number): string {
  const parameters = { type: "object", properties: { place: { type: "string" }, unit: { enum: ["c", "f"] } } };
  return Array.from(
    { length: count },
    (_, nth) =>
      JSON.stringify({
        type: "function",
        function: { name: `tool_${nth}`, description: "Looks at the sky", parameters },
      }),
  )
    .join(",");
}

function lists(lengthBytes: number): string {
  return new Array(Math.floor(lengthBytes / 3)).fill("[]").join(",");
}

function leftPrompt(): string {
  return chat("endless", messages(1, "The quick brown fox jumps over the lazy dog. ".repeat(200_000)), STREAM);
}

function largePictures(): string {
  const picture = plainPng(8_000, 8_000).toBase64();
  return JSON.stringify({
    model: "bench/seer",
    prompt: "x",
    quality: "low",
    input_images: [picture, picture, picture],
  });
}

function slowSound(): string {
  const url = `data:audio/wav;base64,${wavOfEmptyChunks(20_000_000).toBase64()}`;
  return JSON.stringify({
    model: "bench/video",
    prompt: "x",
    input_references: [{ type: "audio_url", audio_url: { url } }],
  });
}

function edit(): Uint8Array<ArrayBuffer> {
  const field = (name: string) => `--bench\r\nContent-Disposition: form-data; name=${name}\r\n\r\n`;
  const parts: Uint8Array[] = [];
  for (const [name, value] of [["model", "bench/painter"], ["prompt", "a hat"], ["quality", "low"]]) {
    parts.push(Buffer.from(`${field(`"${name}"`)}${value}\r\n`));
  }
  const head = plainPng(64, 64);
  for (let nth = 0; nth < 3; nth++) {
    parts.push(
      Buffer.from(field(`"image[]"; filename="${nth}.png"`)),
      head,
      new Uint8Array(14_900_000),
      Buffer.from("\r\n"),
    );
  }
  return new Uint8Array(Buffer.concat([...parts, Buffer.from("--bench--\r\n")]));
}
