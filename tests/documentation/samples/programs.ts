import type { CodeBlock } from "./code_blocks.ts";

/** Whether a block is a program, or a part of one, that a test of programs runs or compiles. */
export function isProgram({ page, language }: CodeBlock): boolean {
  return ["ts", "python"].includes(language) && page !== "docs/clients.md" && page !== "docs/webhooks.md";
}

/** The packages that samples use without importing them, as their prose names them. */
const IMPORTS: Readonly<Record<string, string>> = { OpenRouter: 'import { OpenRouter } from "@openrouter/sdk";' };

/** How a program is run. */
export interface ProgramOptions {
  readonly address: string;
  readonly key: string;
  /** Code after the statement that creates a video, to wait for its end. */
  readonly wait: string;
}

/**
 * Runs a sample in TypeScript as a module.
 *
 * @returns The values of the variables that it declares, and what it printed.
 */
export async function runModule(
  { text }: CodeBlock,
  { address, key, wait }: ProgramOptions,
): Promise<{ readonly values: Readonly<Record<string, unknown>>; readonly printed: string }> {
  const names = [...text.matchAll(/^const (?:(\w+)|\{ ([\w, ]+) \}) =/gm)].flatMap(([, one, several]) =>
    several?.split(", ") ?? [one ?? ""]
  );
  const imports = Object.keys(IMPORTS).filter((name) => text.includes(`new ${name}(`)).map((name) => IMPORTS[name]);
  const code = [...imports, text, `export { ${names.join(", ")} };`].join("\n")
    .replaceAll(/from "([^"]+)"/g, (_, name) => `from ${JSON.stringify(import.meta.resolve(name))}`)
    .replaceAll("http://127.0.0.1:8787", address)
    .replaceAll(/process\.env\.\w+/g, JSON.stringify(key))
    .replace(/(generate\(\{[^]*?^\}\);\n)/m, `$1${wait}\n`)
    .replaceAll(/(\w+)\.choices\[0\]\.message/g, "$1.choices[0]!.message");
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: unknown) => void lines.push(String(line));
  try {
    const values = await import(`data:application/typescript,${encodeURIComponent(code)}`);
    return { values, printed: lines.join("\n") };
  } finally {
    console.log = log;
  }
}

/** The comments of a sample that show what a line prints, or the values of what it declares. */
export function shownValuesOf({ text }: CodeBlock): string[] {
  return text.split("\n").flatMap((line) => / \/\/ (.*)$/.exec(line)?.[1] ?? []);
}
