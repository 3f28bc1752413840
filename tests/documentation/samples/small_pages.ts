import { checkConfig } from "../../../src/config/load_config.ts";
import { asUnwritableError } from "../../../src/platform/lib/process/unwritable.ts";
import { parse } from "yaml";
import { callAdmin, callGateway, CHAT } from "./gateway_requests.ts";
import { modelOf, type OwnScenario, type OwnSession } from "./own_stage.ts";
import { runProgram } from "./program.ts";

const readiness = async (session: OwnSession) => (await callAdmin(session, "GET", "/readyz?verbose")).json;

/** Pages with few samples. */
export const SMALL_PAGES: readonly OwnScenario[] = [
  {
    page: "docs/backup.md",
    before: { "switchyard restore": loseData },
    shows: { "newer version": openNewerStore },
  },
  {
    page: "docs/configuration.md",
    heading: "Configuration",
  },
  {
    page: "docs/configuration.md",
    heading: "Problems",
    shows: { "server.prot": () => problemsOf(PROBLEMS, "switchyard.yaml") },
  },
  {
    page: "docs/configuration.md",
    heading: "Who owns a setting",
    options: { sections: { accounts: [{ id: "acme", rpm: 60 }] } },
  },
  { page: "docs/configuration.md", heading: "File modes", shows: { EROFS: readOnlyMessage } },
  { page: "docs/configuration.md", heading: "Retention", answers: { '"files"': readiness } },
  {
    page: "docs/commands.md",
    before: { "providers list": ({ stage }) => stage.stopGateway() },
  },
  {
    page: "docs/routing.md",
    options: {
      sections: {
        models: ["sandbox/chat-1", "sandbox/any-1", "sandbox/content-1"].map((id) => modelOf(id, "openai")),
        aliases: {},
      },
    },
    shows: { "sandbox/chat-11": unknownModelMessage, "c.yaml": () => problemsOf(ALIASES, "c.yaml") },
    answers: { '"files"': readiness },
  },
  {
    page: "docs/importing.md",
    files: { "model_list:": "config.yaml" },
    before: { "import litellm": removeConfig, "config check": setVariables },
  },
  { page: "docs/limits.md" },
  { page: "docs/scaling.md" },
  { page: "docs/troubleshooting.md", before: { "requests show": nameRequest } },
  {
    page: "docs/web-search.md",
    before: { "web search is": searchWithoutPermission },
  },
];

const PROBLEMS = `
server: { prot: 8787 }
providers:
  openai: { kind: openai, api_key: "\${OPENAI_API_KEY}" }
models:
  - { id: openai/one, pricing: { prompt: abc }, serves: [{ provider: openai }] }
`;

const ALIASES = `
providers: { openai: { kind: openai, api_key: key }, anthropic: { kind: anthropic, api_key: key } }
models:
  - { id: anthropic/claude-opus-5-5, pricing: free, serves: [{ provider: anthropic }] }
  - { id: openai/gpt-6-sol, pricing: free, serves: [{ provider: openai }] }
aliases:
  claude-opus-4-8: anthropic/claude-opus-5.5
  one: two
  two: one
  openai/gpt-6-sol: openai/gpt-6-sol
`;

/** What `config check` prints. */
function problemsOf(text: string, path: string): string {
  const env = (name: string) => name === "PORT" && text === PROBLEMS ? "http" : undefined;
  return checkConfig({ path, env, readFile: () => JSON.stringify(parse(text)) }).problems.join("\n");
}

function readOnlyMessage(): string {
  const error = asUnwritableError("store", "/srv/switchyard.db", Object.assign(new Error(), { code: "EROFS" }));
  return `switchyard: ${(error as Error).message}`;
}

async function unknownModelMessage(session: OwnSession): Promise<string> {
  const body = { ...CHAT, model: "sandbox/chat-11" };
  const { error } = await callGateway(session, "POST", "/v1/chat/completions", { body }) as {
    error: { message: string };
  };
  return error.message;
}

/** A gateway that has lost its data is stopped. */
async function loseData({ stage }: OwnSession): Promise<void> {
  await stage.stopGateway();
  await Deno.remove(`${stage.folder}/data`, { recursive: true });
}

/** Opens a store whose schema is one step ahead. */
async function openNewerStore({ stage, replaced }: OwnSession): Promise<string> {
  const path = `${stage.folder}/data/switchyard.db`;
  replaced.set('"/srv/', '"data/');
  const kv = await Deno.openKv(path);
  const { value } = await kv.get<number>(["schema"]);
  await kv.set(["schema"], (value ?? 0) + 1);
  kv.close();
  return (await runProgram(["ledger", "verify", "--config", `${stage.folder}/switchyard.yaml`])).output;
}

/** The import writes the configuration anew. */
async function removeConfig({ stage }: OwnSession): Promise<void> {
  await Deno.remove(`${stage.folder}/switchyard.yaml`);
}

/** The variables that the imported configuration names. */
async function setVariables({ stage }: OwnSession): Promise<void> {
  const lines = "AZURE_API_BASE=https://example.openai.azure.com\nAZURE_API_KEY=key\nANTHROPIC_API_KEY=key\n";
  await Deno.writeTextFile(`${stage.folder}/.env`, lines, { append: true });
}

/** A request of the log, which the page names by an id. */
async function nameRequest(session: OwnSession): Promise<void> {
  await callGateway(session, "POST", "/v1/chat/completions", { body: CHAT });
  const { json } = await callAdmin(session, "GET", "/admin/v1/requests?limit=1");
  session.ids.set("req_3e4b4b7c0f6a47d99d6ebdd4", json.data[0].id);
}

/** The model has no price for searches. */
async function searchWithoutPermission(session: OwnSession): Promise<void> {
  const body = {
    model: "openai/gpt-5.4-mini",
    max_tokens: 64,
    messages: [{ role: "user", content: "What is new?" }],
    tools: [{ type: "web_search_20250305", name: "web_search" }],
  };
  const answer = await callGateway(session, "POST", "/msgcompat/v1/messages", {
    body,
    headers: { "anthropic-version": "2023-06-01" },
  });
  session.printed.push({ text: JSON.stringify(answer), isSuccess: false });
}
