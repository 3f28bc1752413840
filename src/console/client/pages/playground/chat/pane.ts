import { signal } from "@preact/signals";
import type { ApiError } from "../../../api.ts";
import type {
  Call,
  CallResult,
  ChatSettings,
  Message,
  ToolMessage,
  UserMessage,
  WrittenRequest,
} from "../conversation.ts";
import { type Exchange, newExchange, stream } from "../exchange.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { ReplyReader } from "../reply.ts";

/** How an answer stands. */
export type ReplyState = "running" | "done" | "stopped" | "failed";

/** An answer with its request. */
export interface ReplyTurn {
  readonly role: "reply";
  readonly id: number;
  readonly request: WrittenRequest;
  readonly exchange: Exchange;
  readonly reader: ReplyReader;
  readonly state: ReplyState;
  readonly error: ApiError | null;
}

/** A message in a pane. */
export type Turn = Message | ReplyTurn;

/** What a pane needs to send a request. */
export interface PaneRequest {
  readonly protocol: Protocol;
  readonly settings: ChatSettings;
}

/** An answer is drawn again at most this often. */
const DRAW_MS = 40;

/** A conversation with one model. */
export class Pane {
  /** The id of the model; empty until it is chosen. */
  readonly model = signal("");
  readonly turns = signal<readonly Turn[]>([]);
  #running: AbortController | null = null;
  #nextId = 0;

  /** Whether an answer is arriving. */
  get isRunning(): boolean {
    const last = this.turns.value.at(-1);
    return last?.role === "reply" && last.state === "running";
  }

  /** The calls that wait for their results. */
  get pendingCalls(): readonly Call[] {
    const last = this.turns.value.at(-1);
    if (last?.role === "assistant") return last.calls;
    return last?.role === "reply" && last.state === "done" ? last.reader.reply.calls : [];
  }

  /** Adds a message, and requests the answer. Resolves at its end. */
  async send(message: UserMessage | ToolMessage, request: PaneRequest): Promise<void> {
    if (this.isRunning) return;
    this.turns.value = [...withoutFailure(this.turns.value), message];
    await this.#answer(request);
  }

  /** Sends the results of the calls of the last answer. */
  async sendResults(results: readonly CallResult[], request: PaneRequest): Promise<void> {
    await this.send({ role: "tool", results }, request);
  }

  /** Requests another answer in place of the last one. */
  async retry(request: PaneRequest): Promise<void> {
    if (this.isRunning) return;
    const turns = this.turns.value;
    this.turns.value = turns.at(-1)?.role === "reply" ? turns.slice(0, -1) : turns;
    await this.#answer(request);
  }

  /** Ends the request that is under way. What has arrived stays. */
  stop(): void {
    this.#running?.abort();
  }

  /** Begins a new conversation. */
  clear(): void {
    this.load([]);
  }

  /** Continues a conversation from elsewhere. */
  load(messages: readonly Message[]): void {
    this.stop();
    this.#running = null;
    this.turns.value = messages;
  }

  /** Shows a conversation as it was, with its answers. */
  restore(turns: readonly Turn[]): void {
    this.turns.value = turns;
    this.#nextId = 1 + Math.max(-1, ...turns.map((turn) => turn.role === "reply" ? turn.id : -1));
  }

  async #answer({ protocol, settings }: PaneRequest): Promise<void> {
    const running = this.#running = new AbortController();
    const written = protocol.write({ ...settings, model: this.model.value }, this.turns.value.flatMap(messagesOf));
    let turn: ReplyTurn = {
      role: "reply",
      id: this.#nextId++,
      request: written,
      exchange: newExchange(),
      reader: protocol.reader(),
      state: "running",
      error: null,
    };
    const before = this.turns.value;
    const draw = (changes: Partial<Pick<ReplyTurn, "state" | "error">> = {}) => {
      turn = { ...turn, ...changes };
      if (this.#running === running) this.turns.value = [...before, turn];
    };
    draw();
    const drawSoon = throttled(draw);
    try {
      await stream(written, {
        signal: running.signal,
        exchange: turn.exchange,
        onEvent: (data) => {
          turn.reader.take(data);
          drawSoon.request();
        },
      });
      drawSoon.cancel();
      draw({ state: turn.reader.reply.error === null ? "done" : "failed" });
    } catch (error) {
      drawSoon.cancel();
      if (running.signal.aborted) draw({ state: "stopped" });
      else draw({ state: "failed", error: error as ApiError });
    }
  }
}

/** A message that got no answer at all is left out, together with the failure. */
function withoutFailure(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== "reply" || messagesOf(last).length > 0) return turns;
  return turns.slice(0, turns.at(-2)?.role === "user" ? -2 : -1);
}

/** The message of a turn. Of an answer that was cut off, only the text can be sent again, if there is any. */
function messagesOf(turn: Turn): Message[] {
  if (turn.role !== "reply") return [turn];
  const { reader, request: { protocol }, state } = turn;
  const { reply: { text, calls, media } } = reader;
  if (state === "done") return [{ role: "assistant", text, calls, own: { protocol, value: reader.own() } }];
  return text === "" && media.length === 0 ? [] : [{ role: "assistant", text, calls: [], own: null }];
}

function throttled(draw: () => void): { request(): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    request() {
      timer ??= setTimeout(() => {
        timer = undefined;
        draw();
      }, DRAW_MS);
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
