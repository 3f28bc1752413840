import { TEXTS } from "../../texts.ts";
import type { ChatSettings, ProtocolName } from "../playground/conversation.ts";
import { PROTOCOLS } from "../playground/protocols/all.ts";
import { KEY_VARIABLE, type Language, shellWord } from "../playground/snippets/snippet.ts";
import { textSnippet } from "../playground/protocols/text_snippet.ts";

/** The clients for which a new key is shown, in their order. */
export const CLIENTS = ["curl", "python", "typescript", "anthropic", "google", "claudeCode", "codex"] as const;

/** One of {@linkcode CLIENTS}. */
export type ClientName = typeof CLIENTS[number];

/** A gateway and a model for a client. */
export interface ClientTarget {
  /** The id of a text model. */
  readonly model: string;
  /** The gateway's public address, without a final slash. */
  readonly baseUrl: string;
}

/** The protocols of the clients that are libraries, and the languages of their programs. */
const LIBRARIES: Readonly<Partial<Record<ClientName, readonly [ProtocolName, Language]>>> = {
  curl: ["chat", "curl"],
  python: ["chat", "python"],
  typescript: ["chat", "typescript"],
  anthropic: ["messages", "python"],
  google: ["content", "python"],
};

/** The command that puts a key where the programs of {@linkcode clientSnippet} read it. */
export function keyCommand(secret: string): string {
  return `export ${KEY_VARIABLE}=${secret}\n`;
}

/** A first request by a client, or its settings. The key is read from the environment. */
export function clientSnippet(client: ClientName, target: ClientTarget): string {
  const library = LIBRARIES[client];
  if (library !== undefined) return librarySnippet(library, target);
  return client === "codex" ? codexSettings(target) : claudeCodeSettings(target);
}

function librarySnippet([protocol, language]: readonly [ProtocolName, Language], target: ClientTarget): string {
  const settings: ChatSettings = {
    model: target.model,
    system: "",
    temperature: null,
    maxTokens: null,
    thinking: "default",
    tools: [],
    schema: null,
    makesImages: false,
  };
  const message = { role: "user", parts: [{ kind: "text", text: TEXTS.forms.key.prompt }] } as const;
  return textSnippet(language, PROTOCOLS[protocol].write(settings, [message]), target.baseUrl);
}

/** Source: docs/clients.md#claude-code. */
function claudeCodeSettings({ model, baseUrl }: ClientTarget): string {
  return `export ANTHROPIC_BASE_URL=${baseUrl}/msgcompat
export ANTHROPIC_AUTH_TOKEN=$${KEY_VARIABLE}
export ANTHROPIC_MODEL=${shellWord(model)}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellWord(model)}
claude
`;
}

/** Source: docs/clients.md#codex-cli. */
function codexSettings({ model, baseUrl }: ClientTarget): string {
  return `# ~/.codex/config.toml
model = ${JSON.stringify(model)}
model_provider = "switchyard"

[model_providers.switchyard]
name = ${JSON.stringify(TEXTS.app.name)}
base_url = ${JSON.stringify(`${baseUrl}/v1`)}
env_key = ${JSON.stringify(KEY_VARIABLE)}
wire_api = "responses"
`;
}
