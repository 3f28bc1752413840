import * as z from "zod";
import { PAID_ERRORS } from "../errors.ts";
import { PAID } from "../headers.ts";
import type { Operation } from "../operation.ts";
import { PAID_HEADERS } from "../parameters.ts";
import { DryRun, orDryRun } from "../replies/dry_run.ts";
import {
  BatchEmbedContentsResponse,
  CompletedImage,
  EmbedContentResponse,
  Embeddings,
  Images,
  Moderation,
  PartialImage,
  Ranking,
  Transcript,
} from "../replies/media.ts";
import {
  BatchEmbedContentsRequest,
  EmbedContentRequest,
  EmbeddingRequest,
  ImageEdit,
  ImageEditBody,
  ImageGeneration,
  ModerationRequest,
  RerankRequest,
  SpeechRequest,
  TranscriptRequest,
} from "../requests.ts";
import { MODEL, sse } from "./texts.ts";

const shared = { face: "default", errors: PAID_ERRORS } as const;

const pictures = (kind: "image_generation" | "image_edit") => ({
  200: {
    description: "The pictures; with `stream: true` as server-sent events",
    json: orDryRun(Images),
    other: [sse([
      { name: `${kind}.partial_image`, description: "An unfinished picture", data: PartialImage },
      {
        name: `${kind}.completed`,
        description: "A finished picture; the last one has the usage",
        data: CompletedImage,
      },
      { name: "error", description: "A failure after the first event", data: z.looseObject({}) },
    ])],
    headers: PAID,
  },
});

const TEXT = { mediaType: "text/plain", description: "With `text`, `srt` and `vtt`" };

function transcripts(kind: "transcriptions" | "translations", summary: string): Operation {
  return {
    ...shared,
    id: kind === "transcriptions" ? "createTranscription" : "createTranslation",
    tag: "Audio",
    summary,
    parameters: PAID_HEADERS,
    body: { form: TranscriptRequest },
    replies: {
      200: {
        description: "The vendor's reply in the requested format",
        json: orDryRun(Transcript),
        other: [TEXT],
        headers: PAID,
      },
    },
  };
}

/** The endpoints for pictures, audio, vectors, moderations and ranks. */
export const MEDIA_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createImages",
    tag: "Images",
    summary: "Make pictures from a text",
    parameters: PAID_HEADERS,
    body: {
      json: ImageGeneration,
      examples: { "A picture": { model: "sandbox/image-1", prompt: "A lighthouse at dusk", quality: "low" } },
    },
    replies: pictures("image_generation"),
  },
  {
    ...shared,
    id: "editImages",
    tag: "Images",
    summary: "Change pictures by a text",
    parameters: PAID_HEADERS,
    body: { form: ImageEdit, json: ImageEditBody },
    replies: pictures("image_edit"),
  },
  {
    ...shared,
    id: "createSpeech",
    tag: "Audio",
    summary: "Speak a text",
    parameters: PAID_HEADERS,
    body: {
      json: SpeechRequest,
      examples: { "A sentence": { model: "sandbox/speech-1", input: "Hello.", voice: "alloy" } },
    },
    replies: {
      200: {
        description: "The vendor's audio, or its events with `stream_format: sse`",
        json: DryRun,
        other: [{ mediaType: "audio/*" }, { mediaType: "text/event-stream", description: "The vendor's events" }],
        headers: PAID,
      },
    },
  },
  transcripts("transcriptions", "Write audio down"),
  transcripts("translations", "Write audio down in English"),
  {
    ...shared,
    id: "createEmbeddings",
    tag: "Embeddings",
    summary: "Make vectors from texts",
    parameters: PAID_HEADERS,
    body: {
      json: EmbeddingRequest,
      examples: { "Two texts": { model: "sandbox/embedding-1", input: ["one", "two"] } },
    },
    replies: { 200: { description: "A vector for each input", json: orDryRun(Embeddings), headers: PAID } },
  },
  {
    ...shared,
    id: "embedContent",
    tag: "Embeddings",
    summary: "Make a vector from a text in Gemini's format",
    face: "content",
    parameters: [MODEL, ...PAID_HEADERS],
    body: { json: EmbedContentRequest, examples: { "A text": { content: { parts: [{ text: "one" }] } } } },
    replies: { 200: { description: "The vector", json: orDryRun(EmbedContentResponse), headers: PAID } },
  },
  {
    ...shared,
    id: "batchEmbedContents",
    tag: "Embeddings",
    summary: "Make vectors from texts in Gemini's format",
    face: "content",
    parameters: [MODEL, ...PAID_HEADERS],
    body: {
      json: BatchEmbedContentsRequest,
      examples: {
        "Two texts": { requests: ["one", "two"].map((text) => ({ content: { parts: [{ text }] } })) },
      },
    },
    replies: { 200: { description: "The vectors", json: orDryRun(BatchEmbedContentsResponse), headers: PAID } },
  },
  {
    ...shared,
    id: "createModeration",
    tag: "Moderations",
    summary: "Flag harmful texts and pictures",
    parameters: PAID_HEADERS,
    body: { json: ModerationRequest, examples: { "A text": { model: "sandbox/moderation-1", input: "Hello" } } },
    replies: {
      200: { description: "A result for each text, or one for all parts", json: orDryRun(Moderation), headers: PAID },
    },
  },
  {
    ...shared,
    id: "rerank",
    tag: "Rerank",
    summary: "Order documents by their relevance",
    parameters: PAID_HEADERS,
    body: {
      json: RerankRequest,
      examples: { "Two documents": { model: "sandbox/rerank-1", query: "sea", documents: ["A harbour", "A hill"] } },
    },
    replies: { 200: { description: "The documents, the most relevant first", json: orDryRun(Ranking), headers: PAID } },
  },
];
