import { assert, assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

const PROMPT = "mark-of-a-prompt-4411aa";
const SENT_KEY = "sk-proj-a1b2c3d4e5f6a7b8c9d0";

for (const isolates of [1, 2]) {
  const threads = isolates === 1 ? "one thread" : "two threads";

  Deno.test(`${threads}: what a vendor quotes in its error reaches the caller, and no log`, async () => {
    await withGateway(isolates, async ({ send, row, logs }) => {
      for (const [model, stream] of [["sandbox/whole", false], ["sandbox/whole", true], ["sandbox/streams", true]]) {
        const { requestId, text } = await send("POST", "/v1/chat/completions", {
          model,
          stream,
          messages: [{ role: "user", content: `Say ${PROMPT}` }],
        });
        assert(text.includes(PROMPT), text);
        const logged = await row(requestId);
        assert(!JSON.stringify(logged).includes(PROMPT), JSON.stringify(logged));
        const attempt = logged.attempts[0];
        if (model === "sandbox/whole") {
          const message = 'Provider "whole" responded with status 400 (bad_prompt)';
          assertEquals([logged.error.message, attempt.message], [message, message]);
        }
      }
      assert(!logs().includes(PROMPT));
    });
  });

  Deno.test(`${threads}: a key that is sent as the model or in the path is cut in every log`, async () => {
    await withGateway(isolates, async ({ send, row, logs }) => {
      const messages = [{ role: "user", content: "hi" }];
      const sent = [
        await send("POST", "/v1/chat/completions", { model: SENT_KEY, messages }),
        await send("GET", `/v1/models/${SENT_KEY}`),
        await send("GET", `/v1/nothing/${SENT_KEY}/x`),
        await send("POST", `/gencompat/v1beta/models/${SENT_KEY}:generateContent`, {
          contents: [{ role: "user", parts: [{ text: "hi" }] }],
        }),
      ];
      for (const { requestId } of sent) {
        const logged = JSON.stringify(await row(requestId));
        assert(!logged.includes(SENT_KEY), logged);
        assert(logged.includes("[redacted]"), logged);
      }
      assert(!logs().includes(SENT_KEY), logs());
    });
  });
}

interface Tools {
  send(method: string, path: string, body?: unknown): Promise<{ readonly requestId: string; readonly text: string }>;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  row(requestId: string): Promise<any>;
  logs(): string;
}

async function withGateway(isolates: number, test: (tools: Tools) => Promise<void>): Promise<void> {
  const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const message = `Cannot process "${await request.text()}"`;
    const error = { error: { message, type: "invalid_request_error", code: "bad_prompt" } };
    if (new URL(request.url).pathname.startsWith("/whole")) return Response.json(error, { status: 400 });
    const events = `data: ${JSON.stringify(error)}\n\n`;
    return new Response(events, { headers: { "content-type": "text/event-stream" } });
  });
  const provider = (path: string) => ({
    kind: "openai",
    base_url: `http://127.0.0.1:${vendor.addr.port}/${path}/v1`,
    api_key: "vendor-key-1",
    speaks: "chat",
  });
  const gateway = await startTestGateway({
    isolates,
    config: {
      providers: { whole: provider("whole"), streams: provider("streams") },
      models: [textModel("sandbox/whole", ["whole"]), textModel("sandbox/streams", ["streams"])],
    },
  });
  const call = async (key: string, method: string, path: string, body?: unknown) =>
    await fetch(gateway.address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
  try {
    await test({
      async send(method, path, body) {
        const response = await call(gateway.key, method, path, body);
        return { requestId: response.headers.get("x-service-request-id") ?? "", text: await response.text() };
      },
      async row(requestId) {
        const read = async () => {
          const response = await call(gateway.adminKey, "GET", `/admin/v1/requests/${requestId}`);
          return { status: response.status, text: await response.text() };
        };
        const { text } = await stateOf(`${requestId} has a row`, read, ({ status }) => status === 200);
        return JSON.parse(text);
      },
      logs: () => gateway.logLines.join("\n"),
    });
  } finally {
    await gateway.stop();
    await vendor.shutdown();
  }
}
