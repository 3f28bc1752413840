import { join } from "node:path";
import { expectThoughts } from "./agent_scenarios.ts";
import { type Cache, pythonBin } from "./install.ts";
import { type ClientProgram, expect, expectText } from "./program.ts";
import { endProcessesOf, runProgram, type Session } from "./session.ts";

const VERSION = "0.12.4";

/**
 * Open WebUI: its server, called as its page calls it. The server starts once, without the models for document search
 * that it would download. Each scenario adds its connection as the settings page does.
 */
export const openWebui: ClientProgram = {
  name: "Open WebUI",
  version: VERSION,
  fast: false,
  install: (cache) => cache.python("open-webui", [`open-webui==${VERSION}`]),
  scenarios: {
    async plain(session) {
      const api = await connect(session);
      const message = await api.chat("[[say Hello from the model]]");
      expectText(message.content, "Hello from the model", "the message");
    },
    async stream(session) {
      const api = await connect(session);
      const messages = [{ role: "user", content: "[[words 30]]" }];
      const events = await api.text("/api/chat/completions", { model: session.model, stream: true, messages });
      const deltas = [...events.matchAll(/"delta":\{[^}]*"content":"([^"]+)"/g)].map(([, text]) => text);
      expect(deltas.length > 1, `${deltas.length} pieces of the answer`);
      expectText(deltas.join(""), "word29 word30", "the answer");
    },
    async tools(session) {
      const api = await connect(session);
      const message = await api.chat('[[tool weather {"city":"Oslo"}]]');
      expectText(message.content, "The tool weather answered: It rains in OSLO", "the message");
    },
    async "parallel tools"(session) {
      const api = await connect(session);
      const message = await api.chat('[[tool weather {"city":"Oslo"}]] [[tool weather {"city":"Rome"}]]');
      expectText(message.content, "It rains in OSLO", "the message");
      expectText(message.content, "It rains in ROME", "the message");
    },
    async structured(session) {
      const api = await connect(session);
      const schema = {
        type: "object",
        properties: { population: { type: "integer" } },
        required: ["population"],
        additionalProperties: false,
      };
      const answer = await api.text("/api/chat/completions", {
        model: session.model,
        stream: false,
        messages: [{ role: "user", content: "Invent a city" }],
        response_format: { type: "json_schema", json_schema: { name: "city", strict: true, schema } },
      });
      const { content } = JSON.parse(answer).choices[0].message;
      expect(Number.isInteger(JSON.parse(content).population), `the answer is ${content}`);
    },
    async reasoning(session) {
      const api = await connect(session);
      const message = await api.chat('[[tool weather {"city":"Oslo"}]]', { reasoning_effort: "high" });
      expectText(message.content, "The tool weather answered: It rains in OSLO", "the message");
      expectThoughts(message.output?.some(({ type }) => type === "reasoning") ?? false, session);
    },
    async error(session) {
      const api = await connect(session);
      const message = await api.chat("[[fail 400 The vendor does not like this]]");
      expectText(message.error?.content ?? "", "The vendor does not like this", "the message's error");
    },
  },
  async close() {
    if (server !== null) await (await server).stop();
  },
};

/** A tool as users write one in the workspace. */
const WEATHER = `
class Tools:
    def weather(self, city: str) -> str:
        """
        The weather in a city
        :param city: The city
        """
        return f"It rains in {city.upper()}"
`;

interface Server {
  readonly address: string;
  /** The token of the only user without accounts. */
  readonly token: string;
  stop(): Promise<void>;
}

/** An answer in the format of the page. */
interface Message {
  readonly done: boolean;
  readonly content: string;
  readonly output?: readonly { readonly type: string }[];
  readonly error?: { readonly content: string };
}

interface Api {
  /** Posts JSON; resolves with the response's text. */
  text(path: string, body: unknown): Promise<string>;
  /** Starts a chat with one prompt and waits until its answer is complete. */
  chat(prompt: string, params?: Record<string, unknown>): Promise<Message>;
}

let server: Promise<Server> | null = null;

async function connect(session: Session): Promise<Api> {
  const { address: base, token } = await (server ??= start(session.cache));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const api: Api = {
    async text(path, body) {
      const answer = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
      return await answer.text();
    },
    async chat(prompt, params = {}) {
      const begun = JSON.parse(
        await api.text("/api/chat/completions", {
          model: session.model,
          stream: true,
          messages: [{ role: "user", content: prompt }],
          tool_ids: ["weather"],
          params: { function_calling: "native", ...params },
          session_id: "page",
          id: "answer",
          parent_id: null,
          user_message: { id: "question", role: "user", content: prompt, parentId: null },
        }),
      );
      for (;;) {
        const answer = await fetch(`${base}/api/v1/chats/${begun.chat_id}`, { headers });
        const message: Message = (await answer.json()).chat.history.messages.answer;
        if (message.done) return message;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
  };
  await api.text("/openai/config/update", {
    ENABLE_OPENAI_API: true,
    OPENAI_API_BASE_URLS: [`${session.address}/v1`],
    OPENAI_API_KEYS: [session.key],
    OPENAI_API_CONFIGS: {},
  });
  await (await fetch(`${base}/api/models?refresh=true`, { headers })).body?.cancel();
  return api;
}

/** The maximum time of the first start, which creates a database. */
const MAX_START_MS = 300_000;

async function start(cache: Cache): Promise<Server> {
  const home = await Deno.makeTempDir({ dir: cache.folder, prefix: "open-webui-" });
  const port = freePort();
  const address = `http://127.0.0.1:${port}`;
  const ended = runProgram(["open-webui", "serve", "--host", "127.0.0.1", "--port", String(port)], {
    home,
    work: home,
    cache,
    maxMs: 3_600_000,
    path: [pythonBin(cache, "open-webui")],
    env: {
      DATA_DIR: join(home, "data"),
      WEBUI_AUTH: "False",
      WEBUI_SECRET_KEY: crypto.randomUUID(),
      ENABLE_OLLAMA_API: "False",
      OFFLINE_MODE: "True",
      RAG_EMBEDDING_ENGINE: "openai",
      RAG_OPENAI_API_KEY: "none",
      ANONYMIZED_TELEMETRY: "False",
    },
  });
  const lateAt = Date.now() + MAX_START_MS;
  const isReady = () =>
    fetch(`${address}/health`).then(async (answer) => (await answer.text(), answer.ok), () => false);
  while (!await isReady()) {
    if (Date.now() > lateAt) throw new Error("Open WebUI does not start");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const post = (path: string, token: string, body: unknown) =>
    fetch(address + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const { token } = await (await post("/api/v1/auths/signin", "", { email: "", password: "" })).json();
  const tool = { id: "weather", name: "Weather", content: WEATHER, meta: { description: "The weather in a city" } };
  await (await post("/api/v1/tools/create", token, tool)).body?.cancel();
  return {
    address,
    token,
    async stop() {
      await endProcessesOf(home);
      await ended;
      await Deno.remove(home, { recursive: true });
    },
  };
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
