import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { assertEquals } from "@std/assert";
import OpenAI from "openai";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";

Deno.test("official clients read a model's limits and modalities, from each of the three lists", async () => {
  const serves = (...providers: string[]) => providers.map((provider) => ({ provider, model: "claude-opus-5" }));
  const gateway = await startTestGateway({
    config: {
      models: [
        { ...textModel("own/opus", []), serves: serves("sandbox-anthropic") },
        {
          ...textModel("mixed/opus", []),
          supported_parameters: ["reasoning"],
          serves: serves("sandbox-anthropic", "sandbox-openai"),
        },
      ],
    },
  });
  try {
    const { address, key: apiKey } = gateway;
    const anthropic = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey, maxRetries: 0 });
    const own = await anthropic.models.retrieve("own/opus");
    assertEquals([own.max_input_tokens, own.max_tokens, own.line], [128_000, 16_384, "opus"]);
    assertEquals([own.lifecycle, own.deprecated_at, own.retires_at], ["active", null, null]);
    assertEquals([own.capabilities!.citations.supported, own.capabilities!.thinking.types.enabled.supported], [
      true,
      false,
    ]);
    const listed = await Array.fromAsync(anthropic.models.list());
    assertEquals(listed[0], own);
    const mixed = itemAt(listed, 1).capabilities!;
    assertEquals([mixed.citations.supported, mixed.thinking.types.enabled.supported], [false, true]);

    const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${address}/gencompat` } });
    const named = await google.models.get({ model: "mixed/opus" });
    assertEquals([named.inputTokenLimit, named.outputTokenLimit, named.thinking], [128_000, 16_384, true]);
    const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 });
    assertEquals((await openai.models.retrieve("own/opus")).id, "own/opus");
  } finally {
    await gateway.stop();
  }
});
