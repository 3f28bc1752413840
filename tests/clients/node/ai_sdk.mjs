/** The AI SDK with its providers, and OpenRouter's. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { bases, main, SCHEMA, TOOL_PARAMETERS } from "./harness.mjs";

function row(open, thinking, { showsThoughts = true } = {}) {
  return class {
    static errors = { unknown: "AI_APICallError", refused: "AI_APICallError", limited: "AI_APICallError" };

    static shown(error) {
      return [error.name, APICallError.isInstance(error) ? error.statusCode : null, error.message];
    }

    constructor(place) {
      this.request = { model: open(place, bases(place)), maxRetries: 0 };
    }

    async plain(prompt) {
      const { text, usage } = await generateText({ ...this.request, prompt });
      return { text, input: usage.inputTokens, output: usage.outputTokens };
    }

    async stream(prompt) {
      const pieces = [];
      for await (const piece of streamText({ ...this.request, prompt }).textStream) pieces.push(piece);
      return pieces;
    }

    turn(prompt, weather) {
      return generateText(this.agent(prompt, weather)).then(({ text }) => ({ text }));
    }

    async streamedTurn(prompt, weather) {
      const result = streamText(this.agent(prompt, weather));
      await result.consumeStream();
      return { text: await result.text };
    }

    async reasoning(prompt, weather) {
      const result = streamText({ ...this.agent(prompt, weather), providerOptions: thinking });
      await result.consumeStream();
      const text = await result.text;
      const thoughts = (await result.steps).map(({ reasoningText }) => reasoningText ?? "").join("");
      return showsThoughts ? { text, thoughts } : { text };
    }

    async structured(prompt) {
      const output = Output.object({ schema: jsonSchema(SCHEMA) });
      const streamed = streamText({ ...this.request, prompt, output });
      await streamed.consumeStream();
      await streamed.output;
      return (await generateText({ ...this.request, prompt, output })).output;
    }

    agent(prompt, weather) {
      const tools = {
        weather: tool({
          description: "Tells the weather",
          inputSchema: jsonSchema(TOOL_PARAMETERS),
          execute: async (input) => weather(input),
        }),
      };
      return { ...this.request, prompt, tools, stopWhen: stepCountIs(4) };
    }
  };
}

const reasons = { reasoningEffort: "high", reasoningSummary: "detailed", forceReasoning: true };

await main({
  "@ai-sdk/openai": row(({ key, model }, { openai }) => createOpenAI({ baseURL: openai, apiKey: key })(model), {
    openai: { ...reasons, store: false },
  }),
  "@ai-sdk/openai .chat()": row(
    ({ key, model }, { openai }) => createOpenAI({ baseURL: openai, apiKey: key }).chat(model),
    { openai: { reasoningEffort: "high", forceReasoning: true } },
    { showsThoughts: false },
  ),
  "@ai-sdk/anthropic": row(
    ({ key, model }, { anthropic }) => createAnthropic({ baseURL: `${anthropic}/v1`, apiKey: key })(model),
    { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  ),
  "@ai-sdk/google": row(
    ({ key, model }, { google }) => createGoogleGenerativeAI({ baseURL: `${google}/v1beta`, apiKey: key })(model),
    { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
  ),
  "@ai-sdk/openai-compatible": row(
    ({ key, model }, { openai }) =>
      createOpenAICompatible({
        name: "switchyard",
        baseURL: openai,
        apiKey: key,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(model),
    { switchyard: { reasoningEffort: "high" } },
    { showsThoughts: false },
  ),
  "@openrouter/ai-sdk-provider": row(
    ({ key, model }, { openai }) => createOpenRouter({ baseURL: openai, apiKey: key })(model),
    { openrouter: { reasoning: { effort: "high" } } },
    { showsThoughts: false },
  ),
});
