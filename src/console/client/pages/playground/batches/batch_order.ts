import type { JsonObject } from "../../../json.ts";
import type { ChatSettings, Media } from "../conversation.ts";
import { chat } from "../protocols/chat.ts";

/** A prompt of a batch. Every chosen model gets it. */
export interface BatchPrompt {
  readonly id: number;
  readonly text: string;
  readonly files: readonly Media[];
}

/** What a batch is made of. */
export interface BatchDraft {
  /** Those without a text and files are left out. */
  readonly prompts: readonly BatchPrompt[];
  readonly models: readonly string[];
  readonly settings: Omit<ChatSettings, "model" | "makesImages">;
}

/** A line of a batch, and what it was made of. */
export interface OrderedLine {
  readonly customId: string;
  readonly prompt: string;
  readonly model: string;
  readonly body: JsonObject;
}

/** Whether a prompt has something to send. */
export function isWritten({ text, files }: BatchPrompt): boolean {
  return text.trim() !== "" || files.length > 0;
}

/** A line for each prompt and model. They are chat completions, which every text model answers. */
export function linesOfOrder({ prompts, models, settings }: BatchDraft): readonly OrderedLine[] {
  return prompts.filter(isWritten).flatMap(({ text, files }, place) =>
    [...new Set(models)].map((model) => {
      const parts = [...files, ...text.trim() === "" ? [] : [{ kind: "text" as const, text: text.trim() }]];
      const { body } = chat.write({ ...settings, model, makesImages: false }, [{ role: "user", parts }]);
      const { stream: _stream, stream_options: _options, ...whole } = body;
      return { customId: `${place + 1} ${model}`, prompt: text.trim(), model, body: whole };
    })
  );
}

/** The create of a batch. */
export function writeBatchOrder(lines: readonly OrderedLine[]): JsonObject {
  return {
    endpoint: chat.endpoint,
    completion_window: "24h",
    requests: lines.map(({ customId, body }) => ({ custom_id: customId, body })),
  };
}
