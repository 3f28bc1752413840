import { ApiError, type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import {
  type Answer,
  type CallOptions,
  type Client,
  type ClientConversation,
  schemaOf,
  type TurnInput,
} from "./client.ts";

/**
 * `@google/genai`, `chats`, which store the history themselves. Each chunk of a stream becomes a content of its own.
 */
export const googleContent: Client = {
  name: "@google/genai",
  stops: { end: "STOP", tools: "STOP" },
  offersSearch: true,
  runTools: null,
  runThread: null,
  open({ address, key, model }): ClientConversation {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${address}/gencompat` } });
    let chat = client.chats.create({ model });
    let talksTo = model;
    return {
      async send(said, asking = {}) {
        if ((asking.model ?? model) !== talksTo) {
          talksTo = asking.model ?? model;
          chat = client.chats.create({ model: talksTo, history: chat.getHistory() });
        }
        const request = { message: partsOf(said), config: configOf(asking) };
        const replies = asking.stream
          ? await streamed(await chat.sendMessageStream(request), asking)
          : [await chat.sendMessage(request)];
        return answerOf(replies.flatMap((reply) => reply.candidates?.[0]?.content?.parts ?? []), replies);
      },
    };
  },
  errorOf(thrown) {
    const isOwn = thrown instanceof ApiError;
    return { isOwn, status: isOwn ? thrown.status : null, message: (thrown as Error).message };
  },
};

function partsOf(said: TurnInput): Part[] {
  if (said.kind === "tools") {
    return said.answers.map(({ call, text }) => ({
      functionResponse: { ...(call.id && { id: call.id }), name: call.name, response: { output: text } },
    }));
  }
  if (said.png === undefined) return [{ text: said.text }];
  return [{ inlineData: { mimeType: "image/png", data: said.png } }, { text: said.text }];
}

function configOf({ tools, schema, thinks, signal, maxTokens: most, searches }: CallOptions) {
  return {
    ...(signal && { abortSignal: signal }),
    ...(tools && {
      tools: [{
        functionDeclarations: tools.map((tool) => ({
          name: tool.name,
          description: tool.description,
          parametersJsonSchema: schemaOf(tool),
        })),
      }],
    }),
    ...(most !== undefined && { maxOutputTokens: most }),
    ...(searches && { tools: [{ googleSearch: {} }] }),
    ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
    ...(thinks && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } }),
  };
}

async function streamed(
  stream: AsyncGenerator<GenerateContentResponse>,
  { onText }: CallOptions,
): Promise<GenerateContentResponse[]> {
  const replies: GenerateContentResponse[] = [];
  for await (const reply of stream) {
    replies.push(reply);
    for (const part of reply.candidates?.[0]?.content?.parts ?? []) {
      if (part.text && !part.thought) onText?.(part.text);
    }
  }
  return replies;
}

function answerOf(parts: readonly Part[], replies: readonly GenerateContentResponse[]): Answer {
  const usage = replies.findLast(({ usageMetadata }) => usageMetadata !== undefined)?.usageMetadata;
  const cacheRead = usage?.cachedContentTokenCount ?? 0;
  return {
    text: parts.map(({ text, thought }) => thought ? "" : text ?? "").join(""),
    thoughts: parts.map(({ text, thought }) => thought ? text ?? "" : "").join(""),
    calls: parts.flatMap(({ functionCall }) =>
      functionCall ? [{ id: functionCall.id ?? "", name: functionCall.name ?? "", input: functionCall.args ?? {} }] : []
    ),
    cited: replies.flatMap((reply) => reply.candidates?.[0]?.groundingMetadata?.groundingChunks ?? [])
      .map(({ web }) => web?.uri ?? ""),
    stop: replies.at(-1)?.candidates?.[0]?.finishReason ?? "",
    tokens: {
      fresh: (usage?.promptTokenCount ?? 0) - cacheRead,
      cacheRead,
      cacheWrite: 0,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    },
  };
}
