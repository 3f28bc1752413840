import { join } from "node:path";
import { filesOf, ROOT } from "../../architecture/source_files.ts";
import type { CodeBlock } from "./code_blocks.ts";

const PAGE = "docs/clients.md";

/** The sources of the tests that set up the programs of each section, below `tests/clients`. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  "Claude Code": ["claude_code.ts"],
  "Codex CLI": ["codex.ts"],
  "Gemini CLI": ["gemini_cli.ts"],
  "opencode": ["opencode.ts"],
  "Qwen Code": ["qwen_code.ts"],
  "Cline": ["cline.ts"],
  "aider": ["aider.ts"],
  "llm": ["llm.ts"],
  "Open WebUI": ["open_webui.ts"],
  "Python": ["python"],
  "TypeScript": ["node", "../e2e/videos/openrouter_client_test.ts"],
  "Go": ["go"],
  "Java": ["java"],
};

/** Whether a block is a setting of a client. */
export function isClientSetting({ page }: CodeBlock): boolean {
  return page === PAGE;
}

/**
 * The names of a setting that the tests of the client do not use: variables, fields, options, commands, classes, and
 * paths of base addresses. Texts for people are not compared.
 */
export async function unusedNamesOf({ heading, language, text }: CodeBlock): Promise<string[]> {
  const sources = SOURCES[heading];
  if (sources === undefined) return [`no sources are listed for "${heading}"`];
  const source = (await Promise.all(sources.map(sourceOf))).join("\n");
  return [...namesOf(text, language)].filter((name) => !isUsed(name, source));
}

async function sourceOf(name: string): Promise<string> {
  const path = join("tests/clients", name);
  const paths = name.endsWith(".ts")
    ? [path]
    : (await Promise.all([".py", ".mjs", ".go", ".java"].map((ending) => filesOf(path, ending)))).flat();
  return (await Promise.all(paths.map((each) => Deno.readTextFile(join(ROOT, each))))).join("\n");
}

/** The model and the key of every setting, addresses of schemas, texts for people, numbers and times. */
const COMMON = /sandbox\/chat-1|\$?SWITCHYARD_KEY|https:\/\/[\w./-]+|"[\w ]+ [\w ]+"|\b\d[\d_T.:Z-]*\b/g;
const COMMENTS: Readonly<Record<string, RegExp>> = { ts: /\/\/ .*$/gm, go: /\/\/ .*$/gm, java: /\/\/ .*$/gm };

function namesOf(text: string, language: string): Set<string> {
  const code = text.replaceAll(COMMENTS[language] ?? /(?:^|\s)# .*|\s{2,}#.*$/gm, "");
  const paths = [...code.matchAll(/http:\/\/127\.0\.0\.1:8787(\/[\w/]+)/g)].map(([, path = ""]) => path);
  const rest = code.replaceAll(/http:\/\/127\.0\.0\.1:8787[\w/]*/g, "").replaceAll(COMMON, "");
  return new Set([...paths, ...rest.match(/[A-Za-z_@][\w/-]+\w/g) ?? []]);
}

/** A path may be put together of its parts: `/msgcompat` and `/v1`. */
function isUsed(name: string, source: string): boolean {
  if (new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(source)) return true;
  const end = name.startsWith("/") ? name.lastIndexOf("/") : 0;
  return end > 0 && isUsed(name.slice(0, end), source) && isUsed(name.slice(end), source);
}
