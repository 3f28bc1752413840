import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { valueAt } from "../support/items.ts";
import { npmBin } from "./install.ts";
import type { ClientProgram, ScenarioName } from "./program.ts";
import { sdkClients } from "./sdk_worker.ts";

const FOLDER = fileURLToPath(new URL("./node/", import.meta.url));

/** A file of `node/` and the packages that it uses. */
interface NodeProgram {
  /** The file name without its extension. */
  readonly file: string;
  /** Pinned versions by package name. */
  readonly packages: Readonly<Record<string, string>>;
  readonly rows: readonly NodeRow[];
}

interface NodeRow {
  /** The name in the table, and in the program. */
  readonly row: string;
  /** The package whose version the table shows. */
  readonly package: string;
  readonly lacks?: Readonly<Partial<Record<ScenarioName, string>>>;
}

const PROGRAMS: readonly NodeProgram[] = [
  {
    file: "npm_sdks",
    packages: { openai: "7.55.0", "@anthropic-ai/sdk": "1.11.0", "@google/genai": "3.1.0", zod: "4.6.7" },
    rows: [
      { row: "openai, chat", package: "openai" },
      { row: "openai, responses", package: "openai" },
      { row: "@anthropic-ai/sdk", package: "@anthropic-ai/sdk" },
      { row: "@anthropic-ai/sdk, toolRunner", package: "@anthropic-ai/sdk" },
      { row: "@google/genai", package: "@google/genai" },
    ],
  },
  {
    file: "ai_sdk",
    packages: {
      ai: "7.0.173",
      "@ai-sdk/openai": "4.0.118",
      "@ai-sdk/anthropic": "4.0.105",
      "@ai-sdk/google": "4.0.121",
      "@ai-sdk/openai-compatible": "3.0.92",
      "@openrouter/ai-sdk-provider": "3.1.0",
      zod: "4.6.7",
    },
    rows: [
      { row: "@ai-sdk/openai", package: "@ai-sdk/openai" },
      { row: "@ai-sdk/openai .chat()", package: "@ai-sdk/openai" },
      { row: "@ai-sdk/anthropic", package: "@ai-sdk/anthropic" },
      { row: "@ai-sdk/google", package: "@ai-sdk/google" },
      { row: "@ai-sdk/openai-compatible", package: "@ai-sdk/openai-compatible" },
      { row: "@openrouter/ai-sdk-provider", package: "@openrouter/ai-sdk-provider" },
    ],
  },
];

/** The npm packages, under Node. */
export const nodeClients: readonly ClientProgram[] = PROGRAMS.flatMap(({ file, packages, rows }) =>
  sdkClients({
    name: `${file}.mjs`,
    fast: true,
    async install(cache) {
      await cache.npm(file, Object.entries(packages).map(([name, version]) => `${name}@${version}`));
      // Node searches for packages from the file's own folder upwards.
      const target = join(npmBin(cache, file), "..", "..");
      for (const name of ["harness.mjs", `${file}.mjs`]) await Deno.copyFile(join(FOLDER, name), join(target, name));
    },
    command: (cache) => [join(npmBin(cache, "node"), "node"), join(npmBin(cache, file), "..", "..", `${file}.mjs`)],
    path: () => [],
    rows: rows.map(({ row, package: of, lacks }) => ({
      name: `${row} (npm)`,
      row,
      version: valueAt(packages, of),
      ...(lacks && { lacks }),
    })),
  })
);
