import { type Clock, systemClock } from "./clock.ts";

/** Where lines go that are wanted soon, not one by one. */
export interface LineWriter {
  /**
   * Takes one line without its end.
   *
   * @param atOnce True for what must not be lost should the process die of it: it is written before this returns, together
   * with all that came before.
   */
  write(line: string, atOnce: boolean): void;
  /** Writes what was taken and is not written yet. */
  flush(): void;
}

const GATHER_MS = 10;
/** Beyond that many characters nothing more is gathered. */
const MOST_GATHERED = 65_536;

/**
 * Gathers lines for a moment, since writing each by itself costs a busy process more than making it does.
 *
 * @param write Writes some bytes and tells how many, as `Deno.stderr.writeSync` does.
 */
export function createLineWriter(
  write: (bytes: Uint8Array) => number,
  clock: Clock = systemClock,
): LineWriter {
  const encoder = new TextEncoder();
  let gathered = "";
  const flush = () => {
    if (gathered === "") return;
    const bytes = encoder.encode(gathered);
    gathered = "";
    for (let written = 0; written < bytes.length;) written += write(bytes.subarray(written));
  };
  return {
    write(line, atOnce) {
      if (gathered === "" && !atOnce) clock.after(GATHER_MS, flush);
      gathered += `${line}\n`;
      if (atOnce || gathered.length > MOST_GATHERED) flush();
    },
    flush,
  };
}
