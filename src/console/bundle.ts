import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { CONSOLE_ROOT } from "../platform/endpoints/service.ts";
import { GatewayError } from "../platform/lib/basics/gateway_error.ts";
import { bundledFile, IS_BUNDLED } from "../platform/lib/process/program_files.ts";
import type { ConsoleAsset, ConsoleAssets } from "./assets.ts";

/** The browser's part of the console as text. */
export interface ConsoleBundle {
  /** The script that the page loads. */
  readonly script: string;
  /** The scripts that others import, by their names, which have a hash of their content. */
  readonly parts: Readonly<Record<string, string>>;
  readonly style: string;
}

/** The file that a bundle of the gateway contains. */
export const CONSOLE_BUNDLE = "console.json";
/** The style sheets, which browsers get as one file. */
const STYLES = ["styles.css", "pages/playground/playground.css"];
const CLIENT = new URL("./client/", import.meta.url);

let loaded: Promise<ConsoleAssets> | null = null;

/**
 * Loads the files of the console, once: a bundle of the gateway contains them, and a gateway that runs from its source
 * bundles them when somebody opens the console.
 *
 * @throws {GatewayError} `internal_error` if the bundler fails. The next call tries again.
 */
export function loadConsoleAssets(): Promise<ConsoleAssets> {
  const read = IS_BUNDLED ? readBundle : buildConsoleBundle;
  return loaded ??= read().then(consoleAssets).catch((error) => {
    loaded = null;
    const message = "Cannot load the console: its files cannot be bundled; the first time needs the npm registry";
    throw new GatewayError("internal_error", message, { status: 503, cause: error });
  });
}

/**
 * Bundles the source of the browser's part.
 *
 * @throws {Error} If the source has a fault.
 */
export async function buildConsoleBundle(): Promise<ConsoleBundle> {
  const { success, outputFiles = [], errors } = await Deno.bundle({
    entrypoints: [new URL("main.tsx", CLIENT).pathname],
    outputDir: CONSOLE_ROOT, // nothing is written
    platform: "browser",
    codeSplitting: true,
    minify: true,
    write: false,
  });
  const scripts = new Map(outputFiles.map((file) => [file.path.slice(file.path.lastIndexOf("/") + 1), file.text()]));
  const script = scripts.get("main.js");
  if (!success || script === undefined) {
    throw new Error(`The console cannot be bundled: ${errors.map(({ text }) => text).join("; ")}`);
  }
  scripts.delete("main.js");
  const styles = await Promise.all(STYLES.map((name) => Deno.readTextFile(new URL(name, CLIENT))));
  const style = styles.join("\n");
  return { script, parts: Object.fromEntries(scripts), style: style.replace(/\/\*[^]*?\*\/|^ +|\n/gm, "") };
}

async function readBundle(): Promise<ConsoleBundle> {
  return JSON.parse(await Deno.readTextFile(bundledFile(CONSOLE_BUNDLE)));
}

const IMMUTABLE = "public, max-age=31536000, immutable";

const SCRIPT_FACTS = { mediaType: "text/javascript; charset=utf-8", cacheControl: IMMUTABLE };

/** Compresses the files and names them by their content. */
export async function consoleAssets({ script, parts, style }: ConsoleBundle): Promise<ConsoleAssets> {
  const [scriptFile, styleFile, partFiles] = await Promise.all([
    assetOf(script, SCRIPT_FACTS),
    assetOf(style, { mediaType: "text/css; charset=utf-8", cacheControl: IMMUTABLE }),
    Promise.all(Object.entries(parts).map(async ([name, text]) => [name, await assetOf(text, SCRIPT_FACTS)] as const)),
  ]);
  const scriptName = `console-${scriptFile.hash}.js`;
  const styleName = `console-${styleFile.hash}.css`;
  const imported = importedBy(script, parts);
  const page = await assetOf(pageWith({ script: scriptName, style: styleName, imported }), {
    mediaType: "text/html; charset=utf-8",
    cacheControl: "no-cache",
  });
  const files = new Map([[scriptName, scriptFile], [styleName, styleFile], ...partFiles]);
  return { page, files, firstLoad: [scriptName, styleName, ...imported] };
}

/** Matches imports that a script waits for, not those of `import()`. */
const STATIC_IMPORT = /(?:\bfrom|\bimport)\s*"\.\/([\w.-]+)"/g;

/** The names of the parts that a script imports, directly or not. */
function importedBy(script: string, parts: ConsoleBundle["parts"], found = new Set<string>()): string[] {
  for (const [, name = ""] of script.matchAll(STATIC_IMPORT)) {
    const part = parts[name];
    if (part === undefined || found.has(name)) continue;
    found.add(name);
    importedBy(part, parts, found);
  }
  return [...found];
}

interface PageFiles {
  readonly script: string;
  readonly style: string;
  /** What the script imports, which browsers then load at the same time. */
  readonly imported: readonly string[];
}

/** The page has no data: the script reads everything by the API. */
function pageWith({ script, style, imported }: PageFiles): string {
  const preloads = imported.map((name) => `<link rel="modulepreload" href="${CONSOLE_ROOT}/assets/${name}">\n`).join(
    "",
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Switchyard</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${CONSOLE_ROOT}/assets/${style}">
${preloads}<script type="module" src="${CONSOLE_ROOT}/assets/${script}"></script>
</head>
<body>
<div id="console"><noscript>The console needs JavaScript.</noscript></div>
</body>
</html>
`;
}

/** The sign of the product as an SVG picture. */
const ICON = "data:image/svg+xml," + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-width="3" stroke-linecap="round">' +
    '<path d="M3 17h18" stroke="#3b6fe0"/><path d="M3 7h5c5 0 5 10 10 10" stroke="#e0863b"/></svg>',
);

const HASH_CHARACTERS = 16;

/** Who opens the console first waits for it. The best quality, 11, takes nine times as long to save 7 % of bytes. */
const BROTLI_QUALITY = 9;

async function assetOf(
  text: string,
  facts: Pick<ConsoleAsset, "mediaType" | "cacheControl">,
): Promise<ConsoleAsset> {
  const identity = new TextEncoder().encode(text);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, HASH_CHARACTERS);
  // Both run in threads of the platform.
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(identity, { level: 9 }),
  ]);
  return { ...facts, hash, bodies: { identity, br: new Uint8Array(br), gzip: new Uint8Array(gzipped) } };
}
