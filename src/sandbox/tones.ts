import { createHash } from "node:crypto";
import { concatBytes } from "../platform/lib/bytes/concat_bytes.ts";
import { type SampleFormat, waveHeader } from "../platform/lib/collections/wave.ts";

const MS_PER_WORD = 200;
const SMALL: SampleFormat = { rate: 8_000, channels: 1, bitsPerSample: 8 };

/** Returns a WAV file with a tone for each word of a text: 8 kHz, 8 bits, one channel, a fifth of a second each. */
export function toneFile(text: string): Uint8Array<ArrayBuffer> {
  const samples = tonesOf(text, SMALL.rate);
  const bytes = Uint8Array.from(samples, (sample) => 128 + Math.round(60 * sample));
  return concatBytes([waveHeader(SMALL, bytes.length), bytes]);
}

/** Returns the same tones as samples without a header: 24 kHz, 16 bits, little-endian, one channel. */
export function toneSamples(text: string): Uint8Array<ArrayBuffer> {
  const samples = tonesOf(text, 24_000);
  const view = new DataView(new ArrayBuffer(2 * samples.length));
  samples.forEach((sample, nth) => view.setInt16(2 * nth, Math.round(15_000 * sample), true));
  return new Uint8Array(view.buffer);
}

/** Samples from -1 to 1. */
function tonesOf(text: string, rate: number): Float64Array {
  const words = text.match(/\S+/g) ?? [text];
  const perWord = rate * MS_PER_WORD / 1_000;
  const samples = new Float64Array(perWord * words.length);
  for (const [nth, word] of words.entries()) {
    const hertz = 200 + 2 * (createHash("sha256").update(word).digest()[0] ?? 0);
    for (let at = 0; at < perWord; at++) samples[nth * perWord + at] = Math.sin(2 * Math.PI * hertz * at / rate);
  }
  return samples;
}
