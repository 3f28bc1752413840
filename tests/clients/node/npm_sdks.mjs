/** The vendors' own packages: `openai`, `@anthropic-ai/sdk`, `@google/genai`. */
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { bases, main, SCHEMA, TOOL_PARAMETERS } from "./harness.mjs";

const DEGREES = z.object({ city: z.string(), degrees: z.number().int() });
const user = (content) => ({ role: "user", content });
const shownError = (error) => [error.constructor.name, error.status ?? null, error.message];

class OpenAIRow {
  static errors = { unknown: "NotFoundError", refused: "BadRequestError", limited: "RateLimitError" };
  static shown = shownError;

  constructor(place) {
    this.model = place.model;
    this.client = new OpenAI({ baseURL: bases(place).openai, apiKey: place.key, maxRetries: 0 });
  }
}

class Chat extends OpenAIRow {
  async plain(prompt) {
    const reply = await this.client.chat.completions.create({ model: this.model, messages: [user(prompt)] });
    const { prompt_tokens: input, completion_tokens: output } = reply.usage;
    return { text: reply.choices[0].message.content, input, output };
  }

  async stream(prompt) {
    const pieces = [];
    const runner = this.client.chat.completions.stream({ model: this.model, messages: [user(prompt)] });
    runner.on("content", (piece) => pieces.push(piece));
    await runner.finalChatCompletion();
    return pieces;
  }

  /** The package runs the loop. */
  async turn(prompt, weather, options = {}) {
    const runner = this.client.chat.completions.runTools({
      model: this.model,
      messages: [user(prompt)],
      tools: [{
        type: "function",
        function: { name: "weather", parameters: TOOL_PARAMETERS, parse: JSON.parse, function: weather },
      }],
      ...options,
    });
    return { text: await runner.finalContent() };
  }

  streamedTurn(prompt, weather) {
    return this.turn(prompt, weather, { stream: true });
  }

  reasoning(prompt, weather) {
    return this.turn(prompt, weather, { stream: true, reasoning_effort: "high" });
  }

  async structured(prompt) {
    const response_format = zodResponseFormat(DEGREES, "weather");
    const reply = await this.client.chat.completions.parse({
      model: this.model,
      messages: [user(prompt)],
      response_format,
    });
    return reply.choices[0].message.parsed;
  }
}

class Responses extends OpenAIRow {
  async plain(prompt) {
    const reply = await this.client.responses.create({ model: this.model, input: prompt });
    return { text: reply.output_text, input: reply.usage.input_tokens, output: reply.usage.output_tokens };
  }

  async stream(prompt) {
    const pieces = [];
    const events = this.client.responses.stream({ model: this.model, input: prompt });
    for await (const event of events) if (event.type === "response.output_text.delta") pieces.push(event.delta);
    return pieces;
  }

  async turn(prompt, weather, { streams = false, ...options } = {}) {
    const input = [user(prompt)];
    let thoughts = "";
    for (;;) {
      const request = {
        model: this.model,
        input,
        tools: [{ type: "function", name: "weather", parameters: TOOL_PARAMETERS, strict: true }],
        store: false,
        include: ["reasoning.encrypted_content"],
        ...options,
      };
      const reply = streams
        ? await this.client.responses.stream(request).finalResponse()
        : await this.client.responses.create(request);
      for (const item of reply.output) {
        if (item.type === "reasoning") thoughts += item.summary.map(({ text }) => text).join("");
      }
      const calls = reply.output.filter(({ type }) => type === "function_call");
      if (calls.length === 0) {
        return options.reasoning ? { text: reply.output_text, thoughts } : { text: reply.output_text };
      }
      input.push(...reply.output.map(({ parsed_arguments: _, ...item }) => item));
      for (const { call_id, arguments: args } of calls) {
        input.push({ type: "function_call_output", call_id, output: weather(JSON.parse(args)) });
      }
    }
  }

  streamedTurn(prompt, weather) {
    return this.turn(prompt, weather, { streams: true });
  }

  reasoning(prompt, weather) {
    return this.turn(prompt, weather, { streams: true, reasoning: { effort: "high", summary: "detailed" } });
  }

  async structured(prompt) {
    const text = { format: zodTextFormat(DEGREES, "weather") };
    return (await this.client.responses.parse({ model: this.model, input: prompt, text })).output_parsed;
  }
}

class Messages {
  static errors = { unknown: "NotFoundError", refused: "BadRequestError", limited: "RateLimitError" };
  static shown = shownError;

  constructor(place) {
    this.model = place.model;
    this.client = new Anthropic({ baseURL: bases(place).anthropic, apiKey: place.key, maxRetries: 0 });
  }

  request(prompt, more = {}) {
    return { model: this.model, max_tokens: 4000, messages: [user(prompt)], ...more };
  }

  async plain(prompt) {
    const { content, usage } = await this.client.messages.create(this.request(prompt));
    return { text: content.at(-1).text, input: usage.input_tokens, output: usage.output_tokens };
  }

  async stream(prompt) {
    const pieces = [];
    await this.client.messages.stream(this.request(prompt)).on("text", (piece) => pieces.push(piece)).finalMessage();
    return pieces;
  }

  async turn(prompt, weather, { streams = false, ...options } = {}) {
    const tools = [{ name: "weather", description: "Tells the weather", input_schema: TOOL_PARAMETERS }];
    const request = this.request(prompt, { tools, ...options });
    let thoughts = "";
    for (;;) {
      const { content, stop_reason } = streams
        ? await this.client.messages.stream(request).finalMessage()
        : await this.client.messages.create(request);
      thoughts += thoughtsIn(content);
      if (stop_reason !== "tool_use") return { text: content.at(-1).text, ...(options.thinking && { thoughts }) };
      const results = content.filter(({ type }) => type === "tool_use").map(({ id, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: weather(input),
      }));
      request.messages.push({ role: "assistant", content }, user(results));
    }
  }

  streamedTurn(prompt, weather) {
    return this.turn(prompt, weather, { streams: true });
  }

  reasoning(prompt, weather) {
    return this.turn(prompt, weather, { streams: true, thinking: { type: "enabled", budget_tokens: 1024 } });
  }

  async structured(prompt) {
    const output_config = { format: jsonSchemaOutputFormat(SCHEMA) };
    return (await this.client.messages.parse(this.request(prompt, { output_config }))).parsed_output;
  }
}

const thoughtsIn = (content) => content.map(({ type, thinking }) => type === "thinking" ? thinking : "").join("");
const textIn = (content) => content.map(({ type, text }) => type === "text" ? text : "").join("");

/** `client.beta.messages.toolRunner`: the package runs the loop. */
class ToolRunner extends Messages {
  runner(prompt, weather, more = {}) {
    const run = weather && betaTool({ name: "weather", description: "", inputSchema: TOOL_PARAMETERS, run: weather });
    return this.client.beta.messages.toolRunner(this.request(prompt, { tools: run ? [run] : [], ...more }));
  }

  async plain(prompt) {
    const { content, usage } = await this.runner(prompt);
    return { text: textIn(content), input: usage.input_tokens, output: usage.output_tokens };
  }

  async stream(prompt) {
    const pieces = [];
    for await (const events of this.runner(prompt, undefined, { stream: true })) {
      for await (const { delta } of events) if (delta?.type === "text_delta") pieces.push(delta.text);
    }
    return pieces;
  }

  async turn(prompt, weather) {
    return { text: textIn((await this.runner(prompt, weather)).content) };
  }

  async streamedTurn(prompt, weather) {
    return { text: textIn((await this.runner(prompt, weather, { stream: true }).runUntilDone()).content) };
  }

  async reasoning(prompt, weather) {
    const shown = { text: "", thoughts: "" };
    const thinking = { type: "enabled", budget_tokens: 1024 };
    for await (const { content } of this.runner(prompt, weather, { thinking })) {
      shown.thoughts += thoughtsIn(content);
      shown.text = textIn(content);
    }
    return shown;
  }
}

class GenerateContent {
  static errors = { unknown: "ApiError", refused: "ApiError", limited: "ApiError" };
  static shown = shownError;

  constructor(place) {
    this.model = place.model;
    this.client = new GoogleGenAI({ apiKey: place.key, httpOptions: { baseUrl: bases(place).google } });
  }

  async plain(prompt) {
    const { text, usageMetadata } = await this.client.models.generateContent({ model: this.model, contents: prompt });
    return { text, input: usageMetadata.promptTokenCount, output: usageMetadata.candidatesTokenCount };
  }

  async stream(prompt) {
    const pieces = [];
    const chunks = await this.client.models.generateContentStream({ model: this.model, contents: prompt });
    for await (const { text } of chunks) pieces.push(text ?? "");
    return pieces;
  }

  /** A chat keeps the history; the program calls the tool. */
  async turn(prompt, weather, { streams = false, ...options } = {}) {
    const declarations = [{ name: "weather", description: "", parametersJsonSchema: TOOL_PARAMETERS }];
    const config = { tools: [{ functionDeclarations: declarations }], ...options };
    const chat = this.client.chats.create({ model: this.model, config });
    let message = prompt;
    let thoughts = "";
    for (;;) {
      const parts = streams
        ? await partsOf(await chat.sendMessageStream({ message }))
        : wholeParts(await chat.sendMessage({ message }));
      thoughts += parts.map(({ thought, text }) => thought ? text ?? "" : "").join("");
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      if (calls.length === 0) {
        const text = parts.map(({ thought, text }) => thought ? "" : text ?? "").join("");
        return { text, ...(options.thinkingConfig && { thoughts }) };
      }
      message = calls.map(({ id, name, args }) => ({
        functionResponse: { id, name, response: { output: weather(args) } },
      }));
    }
  }

  streamedTurn(prompt, weather) {
    return this.turn(prompt, weather, { streams: true });
  }

  reasoning(prompt, weather) {
    return this.turn(prompt, weather, {
      streams: true,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    });
  }

  async structured(prompt) {
    const config = { responseMimeType: "application/json", responseJsonSchema: SCHEMA };
    return JSON.parse((await this.client.models.generateContent({ model: this.model, contents: prompt, config })).text);
  }
}

const wholeParts = ({ candidates }) => candidates[0].content.parts;

async function partsOf(chunks) {
  const parts = [];
  for await (const { candidates } of chunks) parts.push(...(candidates?.[0]?.content?.parts ?? []));
  return parts;
}

await main({
  "openai, chat": Chat,
  "openai, responses": Responses,
  "@anthropic-ai/sdk": Messages,
  "@anthropic-ai/sdk, toolRunner": ToolRunner,
  "@google/genai": GenerateContent,
});
