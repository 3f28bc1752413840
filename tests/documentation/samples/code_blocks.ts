import { join } from "node:path";
import { filesOf, ROOT } from "../../architecture/source_files.ts";

/** A fenced block of code in a page of the documentation. */
export interface CodeBlock {
  /** The page's path from the root of the repository. */
  readonly page: string;
  /** The number of the line with the fence, from 1. */
  readonly line: number;
  /** The word after the fence; empty without one. */
  readonly language: string;
  readonly text: string;
  /** The last heading before it. */
  readonly heading: string;
}

const FENCE = /^( *)(`{3,}|~{3,})(\S*).*$/;

/** The pages whose samples are tested, by their paths from the root. */
export async function readPages(): Promise<string[]> {
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...await filesOf("docs", ".md")];
}

/** All blocks of the pages whose samples are tested, in order of pages and lines. */
export async function readCodeBlocks(): Promise<CodeBlock[]> {
  const blocks = await Promise.all(
    (await readPages()).map(async (page) => codeBlocksOf(page, await Deno.readTextFile(join(ROOT, page)))),
  );
  return blocks.flat();
}

/** The blocks of a page. Their text has no indentation of a list that they are in. */
export function codeBlocksOf(page: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let heading = "";
  let open: { line: number; language: string; indent: string; mark: string; lines: string[] } | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    if (open === null) {
      const [, indent = "", mark, language = ""] = FENCE.exec(line) ?? [];
      if (mark !== undefined) open = { line: index + 1, language, indent, mark, lines: [] };
      else heading = /^#+ +(.*)$/.exec(line)?.[1] ?? heading;
    } else if (line.trim() === open.mark) {
      const { line: start, language, lines } = open;
      blocks.push({ page, line: start, language, text: lines.join("\n"), heading });
      open = null;
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    }
  }
  if (open !== null) throw new Error(`${page}:${open.line}: the block of code has no end`);
  return blocks;
}

/** Where a block is, for messages: `docs/videos.md:9`. */
export function placeOf({ page, line }: CodeBlock): string {
  return `${page}:${line}`;
}
