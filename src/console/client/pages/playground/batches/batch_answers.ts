import { numberIn, objectIn, objectsIn, parsedJson, textIn } from "../../../json.ts";
import type { RunBy } from "../../batches/shown_batch.ts";
import type { Call } from "../conversation.ts";
import { readError } from "../protocols/chat.ts";

/** What a dry run says of a batch before it is created. */
export interface BatchQuote {
  readonly lines: number;
  /** The highest cost in US dollars. */
  readonly estimate: string;
  readonly mode: RunBy;
  /** Why the batch would be refused now; empty if it would not. */
  readonly refusal: string;
}

/** What became of a line. */
export interface LineAnswer {
  readonly text: string;
  readonly calls: readonly Call[];
  /** Tokens in and out. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** Why it has no reply; null if it has one. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Reads the response to a dry run. Source: docs/api/dry-runs.md. */
export function readQuote(response: unknown): BatchQuote {
  const { estimate, service_batch: batch, refused_by: refusal } = objectIn(response);
  const { mode, estimate: highest } = objectIn(batch);
  return {
    lines: numberIn(objectIn(estimate).requests),
    estimate: textIn(highest),
    mode: mode === "vendor" || mode === "mixed" ? mode : "emulated",
    refusal: textIn(objectIn(refusal).message),
  };
}

/** Reads a file of results or of failed lines, by `custom_id`. Source: docs/api/batches.md#output. */
export function readAnswers(file: string): ReadonlyMap<string, LineAnswer> {
  const answers = new Map<string, LineAnswer>();
  for (const line of file.split("\n")) {
    if (line === "") continue;
    const { custom_id: customId, response, error } = objectIn(parsedJson(line));
    answers.set(textIn(customId), readAnswer(objectIn(response).body, error));
  }
  return answers;
}

function readAnswer(response: unknown, notRun: unknown): LineAnswer {
  const { choices, usage, error } = objectIn(response);
  const failure = error ?? notRun ?? null;
  const [choice = {}] = objectsIn(choices);
  const { content, tool_calls: calls } = objectIn(choice.message);
  const { prompt_tokens: input, completion_tokens: output } = objectIn(usage);
  return {
    text: textIn(content),
    calls: objectsIn(calls).map(({ id, function: called }) => {
      const { name, arguments: given } = objectIn(called);
      return { id: textIn(id), name: textIn(name), input: textIn(given) };
    }),
    tokens: { input: numberIn(input), output: numberIn(output) },
    error: failure === null ? null : readError(failure),
  };
}
