/** Uncompressed samples, without a header. */
export interface SampleFormat {
  /** Samples per second of each channel. */
  readonly rate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** The bytes before the samples in a file of {@linkcode waveHeader}. */
export const WAVE_HEADER_BYTES = 44;

/**
 * The header of a WAV file with uncompressed samples. Source: Microsoft, "Multimedia Programming Interface and Data
 * Specifications 1.0", "Waveform Audio File Format".
 *
 * @param dataBytes The bytes of all samples.
 */
export function waveHeader(
  { rate, channels, bitsPerSample }: SampleFormat,
  dataBytes: number,
): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(WAVE_HEADER_BYTES);
  const view = new DataView(header.buffer);
  const frameBytes = channels * bitsPerSample / 8;
  const encoder = new TextEncoder();
  const write = (at: number, word: string) => header.set(encoder.encode(word), at);
  write(0, "RIFF");
  view.setUint32(4, WAVE_HEADER_BYTES - 8 + dataBytes, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * frameBytes, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, bitsPerSample, true);
  write(36, "data");
  view.setUint32(40, dataBytes, true);
  return header;
}

/** The samples of a WAV file. */
export interface WaveSamples {
  readonly format: SampleFormat;
  /** The position of the first sample. */
  readonly start: number;
  /** The bytes of all samples as stated; too many in a file whose length was not known when it was begun. */
  readonly lengthBytes: number;
}

/** Finds the samples of a WAV file by its first bytes. Null if they are no header with uncompressed samples. */
export function readWaveHeader(bytes: Uint8Array): WaveSamples | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const word = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || word(0) !== "RIFF" || word(8) !== "WAVE") return null;
  let format: SampleFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length;) {
    const [name, length, start] = [word(at), view.getUint32(at + 4, true), at + 8];
    if (name === "data") return format && { format, start, lengthBytes: length };
    if (name === "fmt ") {
      if (start + 16 > bytes.length || view.getUint16(start, true) !== 1) return null;
      const [channels, rate] = [view.getUint16(start + 2, true), view.getUint32(start + 4, true)];
      format = { rate, channels, bitsPerSample: view.getUint16(start + 14, true) };
    }
    // Chunks begin at even positions.
    at = start + length + length % 2;
  }
  return null;
}
