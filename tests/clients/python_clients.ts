import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { valueAt } from "../support/items.ts";
import { pythonBin } from "./install.ts";
import type { ClientProgram, ScenarioName } from "./program.ts";
import { sdkClients } from "./sdk_worker.ts";

const FOLDER = fileURLToPath(new URL("./python/", import.meta.url));

/** A file of `python/` and the packages that it uses. */
interface PythonProgram {
  /** The file name without its extension. */
  readonly file: string;
  /** Pinned versions by package name. */
  readonly packages: Readonly<Record<string, string>>;
  readonly rows: readonly PythonRow[];
}

interface PythonRow {
  /** The name in the table. */
  readonly name: string;
  /** The name in the program. */
  readonly row: string;
  /** The package whose version the table shows. */
  readonly package: string;
  readonly lacks?: Readonly<Partial<Record<ScenarioName, string>>>;
}

const PYDANTIC = { pydantic: "2.14.3" };

const OBJECTS_ONLY = {
  stream: "streams are objects; tested under structured",
  tools: "does not run tools",
  "parallel tools": "does not run tools",
  reasoning: "does not show reasoning",
};

const PROGRAMS: readonly PythonProgram[] = [
  {
    file: "openai_sdk",
    packages: { openai: "3.3.0", ...PYDANTIC },
    rows: [
      { name: "openai (Python), chat", row: "chat", package: "openai" },
      { name: "openai (Python), responses", row: "responses", package: "openai" },
    ],
  },
  {
    file: "anthropic_sdk",
    packages: { anthropic: "2.12.0", ...PYDANTIC },
    rows: [
      { name: "anthropic (Python)", row: "messages", package: "anthropic" },
      { name: "anthropic (Python), tool_runner", row: "tool_runner", package: "anthropic" },
      { name: "anthropic (Python), thread", row: "thread", package: "anthropic" },
    ],
  },
  {
    file: "google_sdk",
    packages: { "google-genai": "3.4.0", ...PYDANTIC },
    rows: [
      { name: "google-genai (Python)", row: "generate_content", package: "google-genai" },
      { name: "google-genai (Python), chats", row: "chats", package: "google-genai" },
    ],
  },
  {
    file: "langchain_clients",
    packages: {
      "langchain-openai": "1.7.3",
      "langchain-anthropic": "1.7.7",
      "langchain-google-genai": "4.4.2",
      "langchain-core": "1.7.2",
      openai: "2.54.0",
      anthropic: "2.12.0",
      "google-genai": "2.34.0",
    },
    rows: [
      { name: "langchain-openai, chat", row: "openai chat", package: "langchain-openai" },
      { name: "langchain-openai, responses", row: "openai responses", package: "langchain-openai" },
      { name: "langchain-anthropic", row: "anthropic", package: "langchain-anthropic" },
      { name: "langchain-google-genai", row: "google-genai", package: "langchain-google-genai" },
    ],
  },
  {
    file: "llama_index_clients",
    packages: {
      "llama-index-llms-openai-like": "0.8.1",
      "llama-index-llms-openai": "0.8.3",
      "llama-index-llms-anthropic": "0.12.3",
      "llama-index-llms-google-genai": "0.11.3",
      "llama-index-core": "0.14.25",
      openai: "2.54.0",
      // It does not support releases from 1.0 on yet.
      anthropic: "0.125.0",
      "google-genai": "2.34.0",
    },
    rows: [
      { name: "LlamaIndex OpenAILike", row: "openai-like", package: "llama-index-llms-openai-like" },
      {
        name: "LlamaIndex OpenAILikeResponses",
        row: "openai-like responses",
        package: "llama-index-llms-openai-like",
      },
      { name: "LlamaIndex Anthropic", row: "anthropic", package: "llama-index-llms-anthropic" },
      { name: "LlamaIndex GoogleGenAI", row: "google-genai", package: "llama-index-llms-google-genai" },
    ],
  },
  {
    file: "pydantic_ai_clients",
    // It does not support releases of `anthropic` from 1.0 on yet.
    packages: { "pydantic-ai-slim[openai,anthropic,google]": "2.31.1", openai: "2.54.0", anthropic: "0.125.0" },
    rows: ["OpenAIChatModel", "OpenAIResponsesModel", "AnthropicModel", "GoogleModel"].map((row) => ({
      name: `Pydantic AI ${row}`,
      row,
      package: "pydantic-ai-slim[openai,anthropic,google]",
    })),
  },
  {
    file: "instructor_clients",
    packages: { "instructor[anthropic,google-genai]": "1.17.0", openai: "3.3.0", "google-genai": "3.4.0" },
    rows: ["openai", "openai responses", "anthropic", "google-genai"].map((row) => ({
      name: `instructor, ${row}`,
      row,
      package: "instructor[anthropic,google-genai]",
      lacks: OBJECTS_ONLY,
    })),
  },
  {
    file: "openai_agents_clients",
    packages: { "openai-agents": "0.20.0", openai: "2.54.0" },
    rows: [
      { name: "OpenAI Agents SDK, responses", row: "responses", package: "openai-agents" },
      { name: "OpenAI Agents SDK, chat", row: "chat", package: "openai-agents" },
    ],
  },
  {
    file: "google_adk_clients",
    packages: { "google-adk": "2.13.0" },
    rows: [{ name: "Google ADK, Gemini", row: "Gemini", package: "google-adk" }],
  },
  {
    file: "litellm_clients",
    packages: { litellm: "1.106.2", openai: "2.54.0" },
    rows: ["openai/", "openai/ responses", "anthropic/", "gemini/"].map((row) => ({
      name: `LiteLLM, ${row}`,
      row,
      package: "litellm",
    })),
  },
];

/** The pinned packages of a program, by their names. */
export function packagesOf(file: string): Readonly<Record<string, string>> {
  const program = PROGRAMS.find((each) => each.file === file);
  if (program === undefined) throw new Error(`There is no program ${file}`);
  return program.packages;
}

/** The Python packages. Each program has its own virtual environment. */
export const pythonClients: readonly ClientProgram[] = PROGRAMS.flatMap(({ file, packages, rows }) =>
  sdkClients({
    name: `${file}.py`,
    fast: true,
    install: (cache) => cache.python(file, Object.entries(packages).map(([name, version]) => `${name}==${version}`)),
    command: (cache) => [join(pythonBin(cache, file), "python"), "-B", join(FOLDER, `${file}.py`)],
    path: () => [],
    rows: rows.map((row) => ({ ...row, version: valueAt(packages, row.package) })),
  })
);
