import { createHash } from "node:crypto";

const RATE = 8_000;
const MS_PER_WORD = 200;

/** Returns a WAV file with a tone for each word of a text: 8 kHz, 8 bits, one channel, a fifth of a second each. */
export function toneFile(text: string): Uint8Array<ArrayBuffer> {
  const words = text.match(/\S+/g) ?? [text];
  const perWord = RATE * MS_PER_WORD / 1_000;
  const samples = new Uint8Array(perWord * words.length);
  for (const [nth, word] of words.entries()) {
    const hertz = 200 + 2 * (createHash("sha256").update(word).digest()[0] ?? 0);
    for (let at = 0; at < perWord; at++) {
      samples[nth * perWord + at] = 128 + Math.round(60 * Math.sin(2 * Math.PI * hertz * at / RATE));
    }
  }
  const file = new Uint8Array(44 + samples.length);
  const view = new DataView(file.buffer);
  const write = (at: number, word: string) => file.set(new TextEncoder().encode(word), at);
  write(0, "RIFF");
  view.setUint32(4, 36 + samples.length, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  write(36, "data");
  view.setUint32(40, samples.length, true);
  file.set(samples, 44);
  return file;
}
