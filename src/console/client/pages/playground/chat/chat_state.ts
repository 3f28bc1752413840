import { computed, signal } from "@preact/signals";
import type { JsonObject } from "../../../json.ts";
import { objectIn, parsedJson, textIn } from "../../../json.ts";
import type { ChatSettings, Media, ProtocolName, Thinking, Tool } from "../conversation.ts";
import type { OpenedChat } from "../opened_chat.ts";
import { TEXTS } from "../../../texts.ts";
import { Pane } from "./pane.ts";

/** A tool as a person writes it. */
export interface ToolDraft {
  readonly id: number;
  /** JSON with `name`, `description` and `parameters`. */
  readonly definition: string;
  readonly mockResult: string;
}

/** A draft as a tool, or what is wrong with it. */
export type CheckedTool =
  | { readonly tool: Tool; readonly problem: null }
  | { readonly tool: null; readonly problem: "json" | "name" | "parameters" };

const FIRST_TOOL = JSON.stringify(
  {
    name: "get_weather",
    description: TEXTS.playground.chat.exampleTool,
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
  null,
  2,
);

const FIRST_SCHEMA = JSON.stringify(
  {
    type: "object",
    properties: { title: { type: "string" }, summary: { type: "string" } },
    required: ["title", "summary"],
    additionalProperties: false,
  },
  null,
  2,
);

/** The chat of the playground: one or two conversations with the same settings. */
export class ChatState {
  readonly protocol = signal<ProtocolName>("chat");
  readonly panes: readonly [Pane, Pane] = [new Pane(), new Pane()];
  readonly hasTwo = signal(false);
  readonly system = signal("");
  readonly temperature = signal("");
  readonly maxTokens = signal("");
  readonly thinking = signal<Thinking>("default");
  readonly tools = signal<readonly ToolDraft[]>([]);
  readonly hasSchema = signal(false);
  readonly schemaText = signal(FIRST_SCHEMA);
  readonly prompt = signal("");
  readonly files = signal<readonly Media[]>([]);
  #nextTool = 0;

  /** The panes that are shown. */
  readonly shown = computed<readonly Pane[]>(() => this.hasTwo.value ? this.panes : [this.panes[0]]);

  /** The schema of the answer; null if it is off or no JSON object. */
  readonly schema = computed<JsonObject | null>(() => this.hasSchema.value ? objectOf(this.schemaText.value) : null);

  /** Whether everything that was written can be sent. */
  readonly isValid = computed(() =>
    this.tools.value.every((draft) => checkTool(draft).problem === null) &&
    (!this.hasSchema.value || this.schema.value !== null)
  );

  /** The settings of a request, without its model. */
  settings(): Omit<ChatSettings, "model" | "makesImages"> {
    return {
      system: this.system.value.trim(),
      temperature: numberOf(this.temperature.value),
      maxTokens: numberOf(this.maxTokens.value),
      thinking: this.thinking.value,
      tools: this.tools.value.flatMap((draft) => checkTool(draft).tool ?? []),
      schema: this.schema.value,
    };
  }

  /** Shows a request of the log. Its last message is not sent yet, so that it can be changed. */
  open(protocol: ProtocolName, model: string, opened: OpenedChat): void {
    const { system, temperature, maxTokens, tools, schema } = opened;
    const messages = [...opened.messages];
    const last = messages.at(-1);
    const results = new Map(last?.role === "tool" ? last.results.map(({ name, text }) => [name, text]) : []);
    if (last?.role !== "assistant") messages.pop();
    this.protocol.value = protocol;
    this.hasTwo.value = false;
    this.system.value = system;
    this.temperature.value = temperature === null ? "" : String(temperature);
    this.maxTokens.value = maxTokens === null ? "" : String(maxTokens);
    this.tools.value = [];
    for (const tool of tools) this.addTool(JSON.stringify(tool, null, 2), results.get(tool.name) ?? "");
    this.hasSchema.value = schema !== null;
    if (schema !== null) this.schemaText.value = JSON.stringify(schema, null, 2);
    const parts = last?.role === "user" ? last.parts : [];
    this.prompt.value = parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n");
    this.files.value = parts.filter((part) => part.kind === "media");
    this.panes[0].model.value = model;
    this.panes[0].load(messages);
  }

  /** Adds an example of a tool, or a given one. */
  addTool(definition = FIRST_TOOL, mockResult = '{"degrees": 21, "sky": "clear"}'): void {
    this.tools.value = [...this.tools.value, { id: this.#nextTool++, definition, mockResult }];
  }

  /** Changes a tool. */
  changeTool(id: number, changes: Partial<Omit<ToolDraft, "id">>): void {
    this.tools.value = this.tools.value.map((draft) => draft.id === id ? { ...draft, ...changes } : draft);
  }

  /** Removes a tool. */
  removeTool(id: number): void {
    this.tools.value = this.tools.value.filter((draft) => draft.id !== id);
  }

  /** The mock result of a tool by its name; empty for an unknown one. */
  mockResultOf(name: string): string {
    return this.tools.value.map((draft) => checkTool(draft).tool).find((tool) => tool?.name === name)?.mockResult ?? "";
  }
}

/** Reads a tool as it was written. Source: OpenAI API reference, "Function calling", names of functions. */
export function checkTool({ definition, mockResult }: Omit<ToolDraft, "id">): CheckedTool {
  const written = objectOf(definition);
  if (written === null) return { tool: null, problem: "json" };
  const { name, description, parameters = { type: "object", properties: {} } } = written;
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) return { tool: null, problem: "name" };
  const shape = objectIn(parameters);
  if (shape !== parameters) return { tool: null, problem: "parameters" };
  return { tool: { name, description: textIn(description), parameters: shape, mockResult }, problem: null };
}

function objectOf(text: string): JsonObject | null {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : null;
}

function numberOf(text: string): number | null {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? null : value;
}
