import { type BatchJob, GoogleGenAI, type InlinedRequest } from "@google/genai";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions, textModel } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

/** A gateway with clients of the content protocol. */
export interface ContentBatchStage {
  readonly gateway: TestGateway;
  readonly client: GoogleGenAI;
  readonly call: GatewayCall;
  readonly admin: GatewayCall;
  create(requests: InlinedRequest[], model?: string): Promise<BatchJob>;
  /** Stores lines, and returns the name of their file. */
  store(lines: readonly unknown[]): Promise<string>;
  ended(job: BatchJob): Promise<BatchJob>;
  linesOf(fileName: string | undefined): Promise<Line[]>;
  held(): Promise<string>;
}

/** A line of results. */
export interface Line {
  readonly key: string;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly response?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

const CONFIG = {
  limits: { reads: { requests: 100_000, per: 1, burst: 10_000 } },
  models: [
    textModel("sandbox/chat-1", ["sandbox-openai"]),
    textModel("sandbox/messages-1", ["sandbox-anthropic"]),
    textModel("sandbox/content-1", ["sandbox-google"]),
    {
      id: "sandbox/embedding-1",
      pricing: { prompt: "0.000001" },
      embedding: {},
      serves: [{ provider: "sandbox-openai" }],
    },
  ],
};

/** A client of Google. */
export function clientOf(address: string, apiKey: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${address}/gencompat` } });
}

/** Starts a gateway for one test. */
export async function withStage(
  options: Pick<TestGatewayOptions, "isolates" | "balance">,
  use: (stage: ContentBatchStage) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({ ...options, config: { files: `${folder}/files`, ...CONFIG } });
  const { address, key, adminKey } = gateway;
  const client = clientOf(address, key);
  const call = callerOf(address, { "x-goog-api-key": key });
  const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });
  try {
    await use({
      gateway,
      client,
      call,
      admin,
      create: (requests, model = "sandbox/content-1") => client.batches.create({ model, src: requests }),
      async store(lines) {
        const form = new FormData();
        form.set("purpose", "batch");
        const text = lines.map((line) => typeof line === "string" ? line : JSON.stringify(line)).join("\n");
        form.set("file", new Blob([text]), "in.jsonl");
        const init = { method: "POST", headers: { authorization: `Bearer ${key}` }, body: form };
        const { id } = await (await fetch(`${address}/v1/files`, init)).json();
        return id.replace("file-", "files/");
      },
      async ended({ name = "" }) {
        const look = () => client.batches.get({ name });
        return await stateOf("the batch has ended", look, ({ state = "" }) => !/PENDING|RUNNING/.test(state));
      },
      async linesOf(fileName = "") {
        const id = fileName.replace("files/", "file-");
        const { text } = await call("GET", `/v1/files/${id}/content`);
        return text.trimEnd().split("\n").map((line) => JSON.parse(line));
      },
      held: async () => (await admin("GET", "/admin/v1/accounts/demo")).json.held,
    });
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A request of a create. */
export function requestOf(text: string, fields: Partial<InlinedRequest> = {}): InlinedRequest {
  return { contents: [{ role: "user", parts: [{ text }] }], config: { maxOutputTokens: 50 }, ...fields };
}

/** A line of a file. */
export const line = (key: string, text: string, fields: object = {}) => ({
  key,
  request: { contents: [{ role: "user", parts: [{ text }] }], generation_config: { maxOutputTokens: 50 }, ...fields },
});
