import { Buffer } from "node:buffer";

/** Silence of so many seconds, as a WAV of 8,000 bytes per second. */
export function silentWav(seconds: number): Uint8Array<ArrayBuffer> {
  const length = Math.round(seconds * 8_000);
  const bytes = Buffer.alloc(44 + length, 128);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(36 + length, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.set([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0], 16);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(length, 40);
  return new Uint8Array(bytes);
}
