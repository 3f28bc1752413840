import type { Fields } from "../../../contract/unread_fields.ts";

const BYTES: Fields = { mimeType: true, data: true, displayName: true };
const FILE: Fields = { mimeType: true, fileUri: true, displayName: true };

const PART: Fields = {
  text: true,
  thought: true,
  thoughtSignature: true,
  inlineData: BYTES,
  fileData: FILE,
  functionCall: { id: true, name: true, args: true },
  functionResponse: {
    id: true,
    name: true,
    response: true,
    parts: [{ inlineData: BYTES, fileData: FILE }],
  },
  mediaResolution: { level: true },
};

/** The fields that the request reader reads, in camel case; all others are reported as dropped. */
export const REQUEST_SHAPE: Fields = {
  // Set from the path.
  model: true,
  stream: true,
  contents: [{ role: true, parts: [PART] }],
  systemInstruction: { role: true, parts: [{ text: true }] },
  // Tools run by the vendor are reported by their reader.
  tools: true,
  toolConfig: {
    functionCallingConfig: { mode: true, allowedFunctionNames: true },
    // Searches of other formats are returned as grounding, without parts for their calls.
    includeServerSideToolInvocations: (value) => value === false,
  },
  generationConfig: {
    temperature: true,
    topP: true,
    topK: true,
    candidateCount: true,
    maxOutputTokens: true,
    stopSequences: true,
    seed: true,
    presencePenalty: true,
    frequencyPenalty: true,
    responseMimeType: true,
    responseSchema: true,
    responseJsonSchema: true,
    responseFormat: [{ text: { mimeType: true, schema: true } }],
    responseModalities: true,
    responseLogprobs: true,
    logprobs: true,
    thinkingConfig: { includeThoughts: true, thinkingBudget: true, thinkingLevel: true },
    mediaResolution: true,
  },
  // The gateway puts its contents before the conversation.
  cachedContent: true,
  serviceTier: true,
  store: (value) => value === false,
  labels: true,
  // Without effect in this format. Source: docs/api/routing.md#pin.
  extraBody: true,
};
