import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { type EndedCommand, runCommand } from "../../support/command.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { atLeast } from "../../support/items.ts";
import { closedOrigin } from "../../support/video_gateway.ts";

/** The API key of the account `acme`. */
export const KEY = "sk-acme-0123456789";

/** The admin key of the gateway. */
export const ADMIN_KEY = "admin-0123456789abcdef";

/** What one mistake gets as its answer. */
export interface Mistake {
  readonly name: string;
  /** Gives the answer, without what differs from run to run. */
  readonly answer: (place: MistakePlace) => Promise<string>;
}

/** A newcomer's folder, with a simple configuration, a vendor on loopback and a gateway. */
export interface MistakePlace {
  readonly folder: string;
  /** The address of the gateway, which runs after {@linkcode MistakePlace.start}. */
  readonly address: string;
  /** Writes a file with the configuration after a change of its text. Gives its path. */
  write(change?: (text: string) => string, name?: string): Promise<string>;
  /** Runs a command on the configuration; gives its output and exit code. */
  run(...words: string[]): Promise<string>;
  /** Runs a command to its end in a process. */
  runProcess(...words: string[]): Promise<string>;
  /** Sends a request to the gateway; gives the status and the body's message, or the whole body. */
  send(path: string, init: { method?: string; headers?: Record<string, string>; body?: unknown }): Promise<string>;
  /** A new secret of an account, and the id of its key. */
  newKey(account: string, ...options: string[]): Promise<{ readonly id: string; readonly secret: string }>;
  start(): Promise<void>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** Prepares a folder. */
export async function makeMistakePlace(): Promise<MistakePlace> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const address = closedOrigin();
  const vendor = startVendor();
  const plain = configuration(new URL(address).port, folder, vendor.origin);
  const path = `${folder}/switchyard.yaml`;
  await Deno.writeTextFile(path, plain);
  let gateway: ReturnType<typeof startGatewayProcess> | null = null;

  /** Paths, ports and process ids differ from run to run. */
  const steady = (text: string) =>
    text.replaceAll(folder, "FOLDER").replaceAll(address, "http://GATEWAY").replaceAll(new URL(address).host, "GATEWAY")
      .replaceAll(vendor.origin, "http://VENDOR").replace(/process \d+/g, "process N").replace(
        /latency_ms": \d+/g,
        'latency_ms": N',
      )
      .replace(/req_[0-9a-f]+/g, "req_…").replace(/key_[0-9a-f]{28}/g, "key_…").trim();
  const shown = ({ code, said, complaint }: EndedCommand) => `${steady(said + complaint)}\n[exit ${code}]`;

  return {
    folder,
    address,
    async write(change = (text) => text, name = "mistake.yaml") {
      await Deno.writeTextFile(`${folder}/${name}`, change(plain));
      return `${folder}/${name}`;
    },
    run: async (...words) => shown(await runCommand(words.includes("--config") ? words : [...words, "--config", path])),
    async runProcess(...words) {
      const process = startGatewayProcess({ args: words, folder });
      const { code } = await process.ended;
      const complaint = process.log().split("\n").filter((line) => !line.startsWith("{")).join("\n");
      return shown({ code, said: process.output(), complaint });
    },
    async send(path, { method = "POST", headers = {}, body }) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(address + path, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(method !== "GET" && { body: text }),
      });
      return `${response.status} ${steady(messageOf(await response.text()))}`;
    },
    async newKey(account, ...options) {
      const { said } = await runCommand(["keys", "create", account, ...options, "--config", path]);
      const { id, secret } = JSON.parse(said);
      return { id, secret };
    },
    async start() {
      gateway = startGatewayProcess({ args: ["serve", "--config", path], folder });
      atLeast(await gateway.until(/ready at (http:\S+)/), 2);
    },
    async stop() {
      gateway?.kill("SIGTERM");
      await gateway?.ended;
      gateway = null;
    },
    async remove() {
      await vendor.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The message of an error of any protocol; else the whole body. */
function messageOf(text: string): string {
  const { error } = JSON.parse(text);
  return error?.message ?? text;
}

function configuration(port: string, folder: string, vendor: string): string {
  return `server: { port: ${port}, admin_key: "${ADMIN_KEY}", isolates: 1 }
store: kv:${folder}/data/s.db
files: ${folder}/data/files
accounts:
  - { id: acme, balance: "10.00", keys: ["${KEY}"] }
providers:
  openai: { kind: openai, api_key: k1, base_url: "${vendor}" }
models:
  - id: openai/gpt-5
    pricing: { prompt: "0.000001", completion: "0.000002" }
    serves: [{ provider: openai, model: chat-1 }]
`;
}

/** A vendor with one model, which refuses the key `bad-key`. */
function startVendor() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.cancel();
    if (request.headers.get("authorization")?.includes("bad-key")) {
      const error = { message: "Incorrect API key provided: bad-key.", type: "invalid_request_error" };
      return Response.json({ error }, { status: 401 });
    }
    if (request.url.endsWith("/models")) return Response.json({ object: "list", data: [{ id: "chat-1" }] });
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const message = { role: "assistant", content: "hello" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return Response.json({ id: "c1", object: "chat.completion", created: 1, model: "chat-1", choices, usage });
  });
  return { origin: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

/** A key of the right shape that no gateway has issued. */
export const UNKNOWN_KEY = newApiKey();
