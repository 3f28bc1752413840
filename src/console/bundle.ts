import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { GatewayError } from "../lib/gateway_error.ts";
import type { ConsoleAsset, ConsoleAssets } from "./assets.ts";

/** The browser's part of the console as text. */
export interface ConsoleBundle {
  readonly script: string;
  readonly style: string;
}

const SCRIPT = "console.js";
const STYLE = "console.css";
/** Where `deno task compile` puts the bundle, which executables contain. */
const BUILT = new URL("../../dist/console/", import.meta.url);
const CLIENT = new URL("./client/", import.meta.url);

let loaded: Promise<ConsoleAssets> | null = null;

/**
 * Loads the files of the console, once: an executable contains them, and a gateway that runs from its source bundles
 * them when somebody opens the console.
 *
 * @throws {GatewayError} `internal_error` if the bundler fails. The next call tries again.
 */
export function loadConsoleAssets(): Promise<ConsoleAssets> {
  const read = Deno.build.standalone ? readBundle : buildConsoleBundle;
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
    outputDir: BUILT.pathname,
    platform: "browser",
    minify: true,
    write: false,
  });
  const script = outputFiles.find(({ path }) => path.endsWith(".js"))?.text();
  if (!success || script === undefined) {
    throw new Error(`The console cannot be bundled: ${errors.map(({ text }) => text).join("; ")}`);
  }
  const style = await Deno.readTextFile(new URL("styles.css", CLIENT));
  return { script, style: style.replace(/\/\*[^]*?\*\/|^ +|\n/gm, "") };
}

/** Writes the bundle where an executable is compiled from. */
export async function writeConsoleBundle({ script, style }: ConsoleBundle): Promise<void> {
  await Deno.mkdir(BUILT, { recursive: true });
  await Deno.writeTextFile(new URL(SCRIPT, BUILT), script);
  await Deno.writeTextFile(new URL(STYLE, BUILT), style);
}

async function readBundle(): Promise<ConsoleBundle> {
  const [script, style] = await Promise.all([SCRIPT, STYLE].map((name) => Deno.readTextFile(new URL(name, BUILT))));
  return { script: script ?? "", style: style ?? "" };
}

const IMMUTABLE = "public, max-age=31536000, immutable";

/** Compresses the files and names them by their content. */
export async function consoleAssets({ script, style }: ConsoleBundle): Promise<ConsoleAssets> {
  const [scriptFile, styleFile] = await Promise.all([
    assetOf(script, { mediaType: "text/javascript; charset=utf-8", cacheControl: IMMUTABLE }),
    assetOf(style, { mediaType: "text/css; charset=utf-8", cacheControl: IMMUTABLE }),
  ]);
  const [scriptName, styleName] = [`console-${scriptFile.hash}.js`, `console-${styleFile.hash}.css`];
  const page = await assetOf(pageWith(scriptName, styleName), {
    mediaType: "text/html; charset=utf-8",
    cacheControl: "no-cache",
  });
  return { page, files: new Map([[scriptName, scriptFile], [styleName, styleFile]]) };
}

/** The page has no data: the script reads everything by the API. */
function pageWith(script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Switchyard</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/console/assets/${style}">
<script type="module" src="/console/assets/${script}"></script>
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

async function assetOf(
  text: string,
  facts: Pick<ConsoleAsset, "mediaType" | "cacheControl">,
): Promise<ConsoleAsset> {
  const identity = new TextEncoder().encode(text);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, HASH_CHARACTERS);
  // Both run in threads of the platform.
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    promisify(gzip)(identity, { level: 9 }),
  ]);
  return { ...facts, hash, bodies: { identity, br: new Uint8Array(br), gzip: new Uint8Array(gzipped) } };
}
