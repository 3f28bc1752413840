/** Where a client is pointed, and what it is to talk to: all that a user changes. */
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

/** What the user says or a tool answers. */
export type Said =
  | { readonly kind: "user"; readonly text: string; readonly png?: string }
  | { readonly kind: "tools"; readonly answers: readonly ToolAnswer[] };

/** The answer to one call. */
export interface ToolAnswer {
  readonly call: Call;
  readonly text: string;
}

/** A call that the model made, as the client shows it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** Parsed JSON. */
  readonly input: unknown;
}

/** How a turn is asked. */
export interface Asking {
  /** In place of the target's: the conversation goes on with another model. */
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly OfferedTool[];
  /** A JSON Schema that the answer is to follow. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Asks for thoughts that are shown, by whatever option the client has for it. */
  readonly thinks?: boolean;
  /** The most tokens of output. */
  readonly most?: number;
  /** Offers the vendor's own search of the web. */
  readonly searches?: boolean;
  /** Told of each piece of text of a stream as it comes. */
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

/** What the client shows of a reply. */
export interface Answer {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly Call[];
  /** In the client's own word. */
  readonly stop: string;
  /** Addresses of the pages that the client's own types cite. */
  readonly cited: readonly string[];
  readonly tokens: Tokens;
}

/** One conversation. Keeps its history in the client's own shapes, as a program that uses the client would. */
export interface Talk {
  /** Rejects with what the client rejects with. */
  say(said: Said, asking?: Asking): Promise<Answer>;
}

/** A failure as the client shows it. */
export interface ShownError {
  /** False where the error is none of the client's own classes. */
  readonly isOwn: boolean;
  /** Null where the client tells none, as for failures inside a stream. */
  readonly status: number | null;
  readonly message: string;
}

/** One official client, driven through one interface. */
export interface Client {
  readonly name: string;
  /** The client's words for a reply that is complete, and for one that calls tools. */
  readonly stops: { readonly end: string; readonly tools: string };
  /** False where the client has no way to offer the vendor's search. */
  readonly offersSearch: boolean;
  /**
   * The client's own loop: runs a tool until the model answers, and gives the answer's text; null where it has none.
   */
  readonly runTools: ((target: Target, wish: ToolWish) => Promise<string>) | null;
  /**
   * Two turns of a conversation that the vendor keeps; null where the client has none. Gives what the second turn read.
   */
  readonly keepThread: ((target: Target) => Promise<Tokens>) | null;
  open(target: Target): Talk;
  shownError(thrown: unknown): ShownError;
}

/** A failure that a client hands over as an event of its stream and leaves to the program to act on. */
export class EventOfFailure extends Error {
  override readonly name = "EventOfFailure";
}

/** What a client's own loop is asked. */
export interface ToolWish {
  readonly text: string;
  readonly tool: OfferedTool;
  /** Answers a call. */
  readonly run: (input: unknown) => string;
}

/** A refusal of a vendor that keeps no conversations, by the client's own class for it. */
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
