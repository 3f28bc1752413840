import { printable } from "./print.ts";

/** Asks questions. */
export interface Terminal {
  /** Shows a question, and returns the line that is typed, without surrounding white space. */
  ask(question: string): Promise<string>;
  /** Asks for a secret, which is not shown. */
  askSecret(question: string): Promise<string>;
  /** Shows lines of text. */
  tell(text: string): void;
}

/** The input ended, or the user pressed Ctrl-C. */
export class InputEndedError extends Error {
  override readonly name = "InputEndedError";
}

const ENTER = new Set([0x0a, 0x0d]);
const ERASE = new Set([0x08, 0x7f]);
const ENDS = new Set([0x03, 0x04]); // Ctrl-C and Ctrl-D

/** The parts of `Deno.stdin` and `Deno.stdout` that are used. */
export interface TerminalStreams {
  readonly input: Pick<typeof Deno.stdin, "read" | "setRaw">;
  readonly output: Pick<typeof Deno.stdout, "writeSync">;
}

/** Returns the terminal of this process; null if the input is not one. */
export function openTerminal(): Terminal | null {
  return Deno.stdin.isTerminal() ? terminalOver({ input: Deno.stdin, output: Deno.stdout }) : null;
}

/** A terminal over streams. It reads without the editing of the system, since a secret must not be shown. */
export function terminalOver({ input, output }: TerminalStreams): Terminal {
  const encoder = new TextEncoder();
  let typed: number[] = [];
  const write = (text: string | Uint8Array) => output.writeSync(typeof text === "string" ? encoder.encode(text) : text);

  async function nextByte(): Promise<number> {
    if (typed.length === 0) {
      const buffer = new Uint8Array(1_024);
      const count = await input.read(buffer);
      if (count === null) throw new InputEndedError("The input ended");
      typed = [...buffer.subarray(0, count)];
    }
    return typed.shift()!;
  }

  async function readLine(question: string, isShown: boolean): Promise<string> {
    const line: number[] = [];
    // Before the question: the system would show a secret that is typed or pasted as soon as the question is there.
    input.setRaw(true);
    try {
      write(question);
      // Ends with the line or the input.
      while (true) {
        const byte = await nextByte();
        if (ENDS.has(byte)) throw new InputEndedError("The input ended");
        if (ENTER.has(byte)) return new TextDecoder().decode(new Uint8Array(line)).trim();
        if (ERASE.has(byte)) {
          if (line.pop() !== undefined && isShown) write("\b \b");
        } else {
          line.push(byte);
          if (isShown) write(new Uint8Array([byte]));
        }
      }
    } finally {
      input.setRaw(false);
      write("\r\n");
    }
  }

  return {
    ask: (question) => readLine(question, true),
    askSecret: (question) => readLine(question, false),
    tell: (text) => void write(`${printable(text)}\n`),
  };
}
