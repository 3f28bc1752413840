import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { CHAT } from "../../e2e/caller_protocols.ts";
import { startTestGateway, textModel } from "../../support/gateway.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";
import { startScriptedUpstream, STREAM_HEAD } from "../../support/scripted_upstream.ts";

const KEY = newApiKey();
const OTHER = newApiKey();

const chunk = (choices: unknown, usage: unknown = null) => `data: ${JSON.stringify({ id: "c", choices, usage })}\n\n`;
const delta = (content: string) => chunk([{ index: 0, delta: { content }, finish_reason: null }]);

if (isPostgresWanted) {
  Deno.test("a stream that one gateway keeps is read at the other one, while it runs and after its end", async () => {
    const server = await startPostgres();
    const gate = Promise.withResolvers<void>();
    const vendor = startScriptedUpstream(async (side) => {
      if (await side.request() === null) return;
      await side.say(STREAM_HEAD + delta("one") + delta("two"));
      await Promise.race([gate.promise, side.gone()]);
      await side.say(
        delta("three") + chunk([{ index: 0, delta: {}, finish_reason: "stop" }]) +
          chunk([], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }) + "data: [DONE]\n\n",
      );
    });
    const folder = await Deno.makeTempDir();
    const options = {
      store: server.url("postgres"),
      config: {
        files: `${folder}/files`,
        accounts: [
          { id: "demo", balance: "25.00", keys: [KEY] },
          { id: "other", balance: "25.00", keys: [OTHER] },
        ],
        providers: { slow: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
        models: [textModel("sandbox/slow-1", ["slow"])],
      },
    };
    const [first, second] = [await startTestGateway(options), await startTestGateway(options)];
    const read = (path: string, lastId: string | null, key = KEY) =>
      fetch(second.address + path, {
        headers: { authorization: `Bearer ${key}`, ...lastId !== null && { "last-event-id": lastId } },
      });

    const leaving = new AbortController();
    const response = await fetch(`${first.address}/v1/chat/completions`, {
      method: "POST",
      headers: { ...CHAT.headers(KEY), "x-service-resume": "true" },
      body: JSON.stringify(CHAT.body("sandbox/slow-1", "hello", true)),
      signal: leaving.signal,
    });
    const path = response.headers.get("x-service-resume") ?? "";
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("id: 2\n\n")) text += (await reader.read()).value;
    leaving.abort();
    await reader.closed.catch(() => {});

    const resumed = await read(path, "2");
    assertEquals([resumed.status, resumed.headers.get("content-type")], [200, "text/event-stream"]);
    assert(resumed.headers.get("x-service-request-id") !== response.headers.get("x-service-request-id"));
    gate.resolve();
    const rest = await resumed.text();
    assert(rest.includes("three") && rest.includes("[DONE]") && !rest.includes('"two"'), rest);
    const whole = await (await read(path, null)).text();
    assert(whole.includes('"one"') && whole.endsWith(rest));
    const lastId = /id: (\d+)\n\n$/.exec(whole)?.[1] ?? "";
    const answers = [
      await read(path, lastId),
      await read(path, "999"),
      await read(path, null, OTHER),
      await read(path, null, "sk-sy-unknown"),
    ];
    assertEquals(answers.map(({ status }) => status), [204, 400, 404, 401]);
    const { error } = await answers[1]!.json();
    assertEquals(error.param, "Last-Event-ID");

    await first.stop();
    const gone = await read(path, null);
    assertEquals([gone.status, gone.headers.get("retry-after")], [503, "5"]);
    for (const answer of [...answers, gone]) if (!answer.bodyUsed) await answer.body?.cancel();
    await second.stop();
    await vendor.stop();
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  });
}
