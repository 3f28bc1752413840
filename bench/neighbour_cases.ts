import { Buffer } from "node:buffer";
import { plainPng, wavOfEmptyChunks } from "../tests/support/heavy_media.ts";

/** A heavy request. */
export interface HeavyCase {
  readonly name: string;
  readonly path: string;
  readonly contentType?: string;
  /** Created once, before the measurement. */
  readonly body: () => string | Uint8Array<ArrayBuffer>;
  /** When the caller disconnects, in milliseconds; by default it reads to the end. */
  readonly disconnectsAfterMs?: number;
}

const CHAT = "/v1/chat/completions";

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
];

const STREAM = ',"stream":true';

function chat(model: string, said: string, rest = ""): string {
  return `{"model":"bench/${model}","messages":[${said}]${rest}}`;
}

function message(model: string, rest = ""): string {
  return `{"model":"bench/${model}","max_tokens":100,"messages":[${messages(1, "x")}]${rest}}`;
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
