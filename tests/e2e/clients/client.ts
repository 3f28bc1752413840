/** The address, key and model of a client: everything that a user configures. */
export interface Target {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly address: string;
  readonly key: string;
  readonly model: string;
}

/** A tool with an object of strings as its arguments. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** Names of the arguments, all of them required. */
  readonly fields: readonly string[];
}

/** A user message or tool results. */
export type TurnInput =
  | { readonly kind: "user"; readonly text: string; readonly png?: string }
  | { readonly kind: "tools"; readonly answers: readonly ToolResult[] };

/** The result of one call. */
export interface ToolResult {
  readonly call: Call;
  readonly text: string;
}

/** A call of the model, as the client returns it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** Parsed JSON. */
  readonly input: unknown;
}

/** Options of one call. */
export interface CallOptions {
  /** Replaces the target's model: the conversation continues with another one. */
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly OfferedTool[];
  /** A JSON Schema for the answer. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Asks for visible thoughts, with the client's own option. */
  readonly thinks?: boolean;
  /** The maximum number of output tokens. */
  readonly maxTokens?: number;
  /** Offers the vendor's web search. */
  readonly searches?: boolean;
  /** Called with each chunk of text of a stream. */
  readonly onText?: (piece: string) => void;
  readonly signal?: AbortSignal;
}

/** Tokens as the client counts them, without overlap. */
export interface Tokens {
  readonly fresh: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** The reply as the client returns it. */
export interface Answer {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly Call[];
  /** The client's own name of the stop reason. */
  readonly stop: string;
  /** URLs of the pages that the client's own types cite. */
  readonly cited: readonly string[];
  readonly tokens: Tokens;
}

/** One conversation. Its history is in the client's own types, as in a program that uses the client. */
export interface ClientConversation {
  /** Rejects with the client's error. */
  send(said: TurnInput, asking?: CallOptions): Promise<Answer>;
}

/** A failure in the terms of the client. */
export interface ClientError {
  /** False where the error is not one of the client's own classes. */
  readonly isOwn: boolean;
  /** Null where the client has none, as for failures inside a stream. */
  readonly status: number | null;
  readonly message: string;
}

/** One official client, driven through one interface. */
export interface Client {
  readonly name: string;
  /** The client's stop reasons for a complete reply, and for one that calls tools. */
  readonly stops: { readonly end: string; readonly tools: string };
  /** False where the client cannot offer the vendor's search. */
  readonly offersSearch: boolean;
  /**
   * The client's own loop: runs a tool until the model answers, and returns the answer's text; null where there is
   * none.
   */
  readonly runTools: ((target: Target, wish: ToolRun) => Promise<string>) | null;
  /**
   * Runs two turns of a conversation that the vendor stores, and returns the tokens of the second; null where the
   * client has none.
   */
  readonly runThread: ((target: Target) => Promise<Tokens>) | null;
  open(target: Target): ClientConversation;
  errorOf(thrown: unknown): ClientError;
}

/** A failure that a client returns as an event of its stream instead of throwing it. */
export class StreamFailureEvent extends Error {
  override readonly name = "EventOfFailure";
}

/** The arguments of a client's own loop. */
export interface ToolRun {
  readonly text: string;
  readonly tool: OfferedTool;
  /** Returns the result of a call. */
  readonly run: (input: unknown) => string;
}

/** The client's own error for a vendor that stores no conversations. */
export class ThreadRefusal extends Error {
  override readonly name = "ThreadRefusal";
}

/** The JSON Schema of a tool's arguments. */
export function schemaOf({ fields }: OfferedTool) {
  return {
    type: "object" as const,
    properties: Object.fromEntries(fields.map((field) => [field, { type: "string" as const }])),
    required: [...fields],
    additionalProperties: false,
  };
}
