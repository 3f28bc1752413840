import OpenAI from "openai";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { CHAT, MESSAGES, sendAs } from "./caller_protocols.ts";

/** A vendor that resembles OpenAI: it lists models, and answers chats with two words. */
function startVendor() {
  const vendor = { ids: ["meta-llama/llama-4", "gpt-5.5", "two words", "../up"], isDown: false, lists: 0 };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (vendor.isDown) return new Response("down", { status: 503 });
    if (request.method === "GET") {
      vendor.lists++;
      return Response.json({ object: "list", data: vendor.ids.map((id) => ({ id, object: "model" })) });
    }
    const { model } = await request.json();
    return Response.json({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "Well met" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    });
  });
  return { ...vendorOf(vendor), address: `http://127.0.0.1:${server.addr.port}/v1`, stop: () => server.shutdown() };
}

function vendorOf<V extends object>(vendor: V): { readonly vendor: V } {
  return { vendor };
}

function start(address: string, files: string, models: readonly unknown[]) {
  return startTestGateway({
    config: {
      files,
      providers: {
        far: { kind: "openai", base_url: address, speaks: "chat" },
        openai: { kind: "openai", base_url: address, speaks: "chat" },
      },
      models,
      aliases: { llama: "far/meta-llama/llama-4", "l-*": "far/*" },
    },
  });
}

const CATALOGS = ["/v1/models", "/msgcompat/v1/models", "/gencompat/v1beta/models"];

async function idsIn(address: string, path: string): Promise<string[]> {
  const { data, models } = await (await fetch(address + path)).json();
  return (data ?? models).map(({ id, name }: { id?: string; name: string }) => id ?? name.replace("models/", ""));
}

Deno.test("models that a provider lists are in the catalogs and are served, at their own prices", async () => {
  const files = await Deno.makeTempDir({ prefix: "switchyard-lists-" });
  const { vendor, address, stop } = startVendor();
  const priced = { id: "far/*", pricing: { prompt: "0.00001", completion: "0.0001" } };
  const gateway = await start(address, files, [priced, { id: "openai/*" }]);
  await eventually(async () => (await idsIn(gateway.address, "/v1/models")).length === 3);
  for (const path of CATALOGS) {
    // A built-in model has its price; another one has none at this provider.
    assertEquals(await idsIn(gateway.address, path), ["far/meta-llama/llama-4", "far/gpt-5.5", "openai/gpt-5.5"]);
    assertEquals(await idsIn(gateway.address, `${path}/far`), ["far/meta-llama/llama-4", "far/gpt-5.5"]);
  }
  const openai = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });
  assertEquals((await openai.models.retrieve("far/meta-llama/llama-4")).id, "far/meta-llama/llama-4");
  const account = accountMoney(gateway);
  for (const model of ["far/meta-llama/llama-4", "llama", "l-meta-llama/llama-4", "meta-llama/llama-4"]) {
    const answer = await sendAs(MESSAGES, gateway, { model });
    assertEquals([answer.status, answer.json.model], [200, model], answer.text);
    const charge = (await account.latestCharge())!;
    assertEquals([charge.model, charge.cost], ["far/meta-llama/llama-4", "0.0003000000"]);
  }
  const large = await sendAs(CHAT, gateway, { model: "llama", text: "word ".repeat(40_000) });
  assertEquals([large.status, large.headers.get("x-service-model")], [200, "far/meta-llama/llama-4"], large.text);
  const unpriced = await sendAs(CHAT, gateway, { model: "openai/meta-llama/llama-4" });
  assertEquals([unpriced.status, unpriced.json.error.code], [404, "model_not_found"]);
  assertStringIncludes(unpriced.json.error.message, '"far/meta-llama/llama-4"');
  assert(gateway.logLines.some((line) => line.includes("model_list_read") && line.includes("2 with a name")));

  await gateway.stop();
  vendor.isDown = true;
  const again = await start(address, files, [priced]);
  assertEquals(await idsIn(again.address, "/v1/models"), ["far/meta-llama/llama-4", "far/gpt-5.5"]);
  await again.stop();
  await stop();
  await Deno.remove(files, { recursive: true });
});

Deno.test("a gateway starts and answers while a list cannot be read, and adds its models later", async () => {
  const files = await Deno.makeTempDir({ prefix: "switchyard-lists-" });
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 }); // accepts and never answers
  const gateway = await start(`http://127.0.0.1:${silent.addr.port}/v1`, files, [{ id: "far/*", pricing: "free" }]);
  assertEquals(await idsIn(gateway.address, "/v1/models"), []);
  assertEquals((await sendAs(CHAT, gateway, { model: "far/any" })).status, 404);
  await gateway.stop();
  silent.close();
  await Deno.remove(files, { recursive: true });
});
