import { CHAT, CONTENT, type Json, MESSAGES, RESPONSES } from "./caller_protocols.ts";

/** What a turn asks for, without a format. */
export interface TurnOptions {
  readonly text: string;
  /** Attach an image. */
  readonly hasImage: boolean;
  /** Offer the search of the vendor, so that the reply cites. */
  readonly searches: boolean;
  /** How the caller controls reasoning; null leaves it to the model. */
  readonly thinking: "low" | "high" | "max" | "none" | "budget" | null;
  /** Force a call. */
  readonly isForced: boolean;
  /** A schema for the text of the reply. */
  readonly hasSchema: boolean;
  /** Sampling settings and stop sequences. */
  readonly samples: boolean;
  /** Mark the instructions for the prompt cache, where the format has marks. */
  readonly marksCache: boolean;
}

/** A call in a reply, by what its format needs to answer it. */
export interface SpokenCall {
  readonly id: string;
  readonly name: string;
}

/** One conversation, whose history is kept in the format of the caller as its replies had it. */
export interface Speaker {
  readonly path: (model: string) => string;
  readonly headers: (key: string) => Record<string, string>;
  /** Adds a turn of the user and returns the body of the request. */
  ask(model: string, wish: TurnOptions): Json;
  /** Adds results of calls and returns the body of the request. */
  answer(model: string, calls: readonly SpokenCall[], wish: TurnOptions): Json;
  /** Adds a reply to the history. */
  add(reply: Json): readonly SpokenCall[];
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";
const SYSTEM = "You are an assistant that answers in json when asked to.";
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const STRICT = { ...CITY, additionalProperties: false };
const NAMES = ["weather", "time"];

/** Starts a conversation in each format that callers speak. */
export const SPEAKERS: Readonly<Record<string, () => Speaker>> = {
  chat: speakChat,
  responses: speakResponses,
  messages: speakMessages,
  content: speakContent,
};

function speakChat(): Speaker {
  const messages: Json[] = [{ role: "system", content: SYSTEM }];
  const body = (model: string, wish: TurnOptions): Json => ({
    model,
    messages: [...messages],
    tools: NAMES.map((name) => ({ type: "function", function: { name, parameters: CITY } })),
    ...(wish.isForced && { tool_choice: "required" }),
    ...(wish.searches && { web_search_options: {} }),
    ...(wish.thinking === "budget" && { reasoning: { max_tokens: 1500 } }),
    ...(wish.thinking !== null && wish.thinking !== "budget" && { reasoning_effort: wish.thinking }),
    ...(wish.hasSchema &&
      { response_format: { type: "json_schema", json_schema: { name: "city", schema: STRICT, strict: true } } }),
    ...(wish.samples && { temperature: 0.7, top_p: 0.9, frequency_penalty: 0.1, stop: ["never"], seed: 7 }),
  });
  return {
    path: CHAT.path,
    headers: CHAT.headers,
    ask(model, wish) {
      const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
      const content = wish.hasImage ? [{ type: "text", text: wish.text }, image] : wish.text;
      messages.push({ role: "user", content });
      return body(model, wish);
    },
    answer(model, calls, wish) {
      messages.push(...calls.map(({ id, name }) => ({ role: "tool", tool_call_id: id, content: `${name}: fine` })));
      return body(model, wish);
    },
    add({ choices: [{ message }] }) {
      messages.push(message);
      return (message.tool_calls ?? []).map(({ id, function: { name } }: Json) => ({ id, name }));
    },
  };
}

function speakResponses(): Speaker {
  const input: Json[] = [];
  const body = (model: string, wish: TurnOptions): Json => ({
    model,
    instructions: SYSTEM,
    input: [...input],
    tools: [
      ...NAMES.map((name) => ({ type: "function", name, parameters: CITY })),
      ...(wish.searches ? [{ type: "web_search" }] : []),
    ],
    ...(wish.isForced && { tool_choice: "required" }),
    // What a vendor stores, no other one has.
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(wish.thinking !== null && wish.thinking !== "budget" &&
      { reasoning: { effort: wish.thinking, summary: "auto" } }),
    ...(wish.hasSchema && { text: { format: { type: "json_schema", name: "city", schema: STRICT, strict: true } } }),
    ...(wish.samples && { temperature: 0.7, top_p: 0.9 }),
  });
  return {
    path: RESPONSES.path,
    headers: RESPONSES.headers,
    ask(model, wish) {
      const image = { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" };
      input.push({
        role: "user",
        content: [{ type: "input_text", text: wish.text }, ...(wish.hasImage ? [image] : [])],
      });
      return body(model, wish);
    },
    answer(model, calls, wish) {
      input.push(
        ...calls.map(({ id, name }) => ({ type: "function_call_output", call_id: id, output: `${name}: fine` })),
      );
      return body(model, wish);
    },
    add({ output }) {
      input.push(...output);
      return output.filter(({ type }: Json) => type === "function_call")
        .map(({ call_id: id, name }: Json) => ({ id, name }));
    },
  };
}

function speakMessages(): Speaker {
  const messages: Json[] = [];
  const body = (model: string, wish: TurnOptions): Json => ({
    model,
    max_tokens: 4_000,
    system: [{ type: "text", text: SYSTEM, ...(wish.marksCache && { cache_control: { type: "ephemeral" } }) }],
    messages: [...messages],
    tools: [
      ...NAMES.map((name) => ({ name, input_schema: CITY })),
      ...(wish.searches ? [{ type: "web_search_20250305", name: "web_search" }] : []),
    ],
    ...(wish.isForced && { tool_choice: { type: "any" } }),
    ...thinkingOf(wish.thinking),
    ...(wish.hasSchema && { output_config: { format: { type: "json_schema", schema: STRICT } } }),
    ...(wish.samples && { temperature: 0.7, stop_sequences: ["never"] }),
  });
  return {
    path: MESSAGES.path,
    headers: MESSAGES.headers,
    ask(model, wish) {
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
      messages.push({ role: "user", content: [{ type: "text", text: wish.text }, ...(wish.hasImage ? [image] : [])] });
      return body(model, wish);
    },
    answer(model, calls, wish) {
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
      const results = calls.map(({ id, name }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: [{ type: "text", text: `${name}: fine` }, ...(wish.hasImage ? [image] : [])],
      }));
      messages.push({ role: "user", content: results });
      return body(model, wish);
    },
    add({ content }) {
      messages.push({ role: "assistant", content });
      return content.filter(({ type }: Json) => type === "tool_use").map(({ id, name }: Json) => ({ id, name }));
    },
  };
}

function thinkingOf(wish: TurnOptions["thinking"]): Json {
  switch (wish) {
    case null:
      return {};
    case "none":
      return { thinking: { type: "disabled" } };
    case "budget":
      return { thinking: { type: "enabled", budget_tokens: 1_500 } };
    default:
      return { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: wish } };
  }
}

function speakContent(): Speaker {
  const contents: Json[] = [];
  const body = (wish: TurnOptions): Json => ({
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: [...contents],
    tools: [
      { functionDeclarations: NAMES.map((name) => ({ name, parametersJsonSchema: CITY })) },
      ...(wish.searches ? [{ googleSearch: {} }] : []),
    ],
    toolConfig: {
      functionCallingConfig: { mode: wish.isForced ? "ANY" : "AUTO" },
      ...(wish.searches && { includeServerSideToolInvocations: true }),
    },
    ...configOf(wish),
  });
  return {
    path: (model) => CONTENT.path(model),
    headers: CONTENT.headers,
    ask(_model, wish) {
      const image = { inlineData: { mimeType: "image/png", data: PNG } };
      contents.push({ role: "user", parts: [{ text: wish.text }, ...(wish.hasImage ? [image] : [])] });
      return body(wish);
    },
    answer(_model, calls, wish) {
      const parts = calls.map(({ id, name }) => ({
        functionResponse: { ...(id !== "" && { id }), name, response: { result: "fine" } },
      }));
      contents.push({ role: "user", parts });
      return body(wish);
    },
    add({ candidates: [{ content }] }) {
      contents.push(content);
      return (content.parts ?? []).filter(({ functionCall }: Json) => functionCall !== undefined)
        .map(({ functionCall: { id = "", name } }: Json) => ({ id, name }));
    },
  };
}

/** The settings of a request; no empty object. */
function configOf(wish: TurnOptions): Json {
  const generationConfig = {
    ...(wish.thinking !== null && { thinkingConfig: { includeThoughts: true, ...levelOf(wish.thinking) } }),
    ...(wish.hasSchema && { responseMimeType: "application/json", responseJsonSchema: STRICT }),
    ...(wish.samples && { temperature: 0.7, topP: 0.9, presencePenalty: 0.1, stopSequences: ["never"], seed: 7 }),
  };
  return Object.keys(generationConfig).length === 0 ? {} : { generationConfig };
}

function levelOf(wish: "low" | "high" | "max" | "none" | "budget"): Json {
  switch (wish) {
    case "none":
      return { thinkingBudget: 0 };
    case "budget":
      return { thinkingBudget: 1_500 };
    default:
      return { thinkingLevel: wish === "max" ? "HIGH" : wish.toUpperCase() };
  }
}
