import { type CallResult, type ChatSettings, type Message, ownFormOf, type Thinking } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, objectsIn, parsedJson, textIn } from "../../../json.ts";
import { costIn, emptyReply, type ReplyReader } from "../reply.ts";
import { contentSnippets } from "../snippets/content_snippets.ts";
import type { Protocol } from "./protocol.ts";
import { readContent } from "./read_content.ts";

/** Tokens of reasoning. */
const BUDGETS: Readonly<Record<Exclude<Thinking, "default">, number>> = {
  off: 0,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
};
/** The ids of calls that the protocol did not name. */
const LOCAL_ID = "call_";

const STREAMED = "streamGenerateContent?alt=sse";
/** Pictures come as a whole. */
const WHOLE = "generateContent";

/** Generate content. Source: docs/api/generate-content.md. */
export const content: Protocol = {
  name: "content",
  endpoint: "/gencompat/",
  read: readContent,
  snippets: contentSnippets,
  write: (settings, messages) => ({
    protocol: "content",
    model: settings.model,
    path: `/gencompat/v1beta/models/${settings.model.split("/").map(encodeURIComponent).join("/")}:${
      settings.makesImages ? WHOLE : STREAMED
    }`,
    body: writeBody(settings, messages),
  }),
  reader: contentReader,
};

function writeBody(settings: ChatSettings, messages: readonly Message[]): JsonObject {
  const { system, temperature, maxTokens, thinking, tools, schema, makesImages } = settings;
  const generationConfig = {
    ...makesImages && { responseModalities: ["TEXT", "IMAGE"] },
    ...temperature !== null && { temperature },
    ...maxTokens !== null && { maxOutputTokens: maxTokens },
    ...thinking !== "default" && {
      thinkingConfig: { thinkingBudget: BUDGETS[thinking], ...thinking !== "off" && { includeThoughts: true } },
    },
    ...schema !== null && { responseMimeType: "application/json", responseJsonSchema: schema },
  };
  return {
    ...system !== "" && { systemInstruction: { parts: [{ text: system }] } },
    contents: messages.map(writeTurn),
    ...Object.keys(generationConfig).length > 0 && { generationConfig },
    ...tools.length > 0 && {
      tools: [{
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parametersJsonSchema: parameters,
        })),
      }],
    },
  };
}

function writeTurn(message: Message): JsonObject {
  if (message.role === "tool") return { role: "user", parts: message.results.map(writeResult) };
  if (message.role === "user") {
    const parts = message.parts.map((part) =>
      part.kind === "text" ? { text: part.text } : { inlineData: { mimeType: part.mediaType, data: part.data } }
    );
    return { role: "user", parts };
  }
  const { text, calls } = message;
  const own = ownFormOf(message, "content");
  if (own !== null) return { role: "model", parts: own };
  const parts = [
    ...text === "" ? [] : [{ text }],
    ...calls.map(({ id, name, input }) => ({
      functionCall: { ...!isLocal(id) && { id }, name, args: objectIn(parsedJson(input)) },
    })),
  ];
  return { role: "model", parts };
}

/** A response is an object. */
function writeResult({ id, name, text }: CallResult): JsonObject {
  const parsed = parsedJson(text);
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  const response = isObject ? parsed : { result: text };
  return { functionResponse: { ...!isLocal(id) && { id }, name, response } };
}

function isLocal(id: string): boolean {
  return /^call_\d+$/.test(id);
}

function contentReader(): ReplyReader {
  const reply = emptyReply();
  const parts: Record<string, unknown>[] = [];
  return {
    reply,
    take(data) {
      const chunk = objectIn(data);
      const [candidate = {}] = objectsIn(chunk.candidates);
      for (const part of objectsIn(objectIn(candidate.content).parts)) takePart(part);
      const blocked = textIn(objectIn(chunk.promptFeedback).blockReason);
      reply.stop = textIn(candidate.finishReason) || blocked || reply.stop;
      if (chunk.usageMetadata) takeUsage(objectIn(chunk.usageMetadata));
      if (chunk.error === undefined) return;
      const { status, message } = objectIn(chunk.error);
      reply.error = { code: textIn(status), message: textIn(message) };
    },
    own: () => parts.filter((part) => part.text !== "" || part.thoughtSignature !== undefined),
  };

  function takePart(part: JsonObject): void {
    const text = textIn(part.text);
    if (part.thought === true) reply.thinking += text;
    else reply.text += text;
    const { mimeType, data } = objectIn(part.inlineData);
    // Drafts of a picture belong to the reasoning.
    if (typeof data === "string" && part.thought !== true) {
      reply.media.push({ kind: "media", name: "", mediaType: textIn(mimeType), data });
    }
    if (part.functionCall) {
      const { id, name, args } = objectIn(part.functionCall);
      const known = textIn(id) || `${LOCAL_ID}${reply.calls.length + 1}`;
      reply.calls.push({ id: known, name: textIn(name), input: JSON.stringify(args ?? {}) });
    }
    const last = parts.at(-1);
    if (last !== undefined && isPlainText(last) && isPlainText(part) && last.thought === part.thought) {
      last.text = textIn(last.text) + text;
    } else parts.push({ ...part });
  }

  function takeUsage(usage: JsonObject): void {
    const reasoning = numberIn(usage.thoughtsTokenCount);
    reply.cost = costIn(usage.cost) ?? reply.cost;
    reply.usage = {
      input: numberIn(usage.promptTokenCount),
      output: numberIn(usage.candidatesTokenCount) + reasoning,
      cached: numberIn(usage.cachedContentTokenCount),
      reasoning,
    };
  }
}

/** Pieces of a text can be joined, except at a signature. */
function isPlainText(part: JsonObject): boolean {
  return typeof part.text === "string" && part.thoughtSignature === undefined;
}
