import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage_error.ts";

/** An answer that is not valid. The message says what is expected, in the words of the question. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** Reads an answer. Throws {@linkcode AnswerError} for one that is not valid. */
export type ReadAnswer<T> = (text: string) => MaybePromise<T>;

/** A question with its option. */
export interface Question<T> {
  /** Without the proposal and the final colon. */
  readonly text: string;
  /** The option that answers it, without its dashes, for the message. */
  readonly option: string;
  /** The answer of the option, which is not asked for then. */
  readonly given: string | undefined;
  /** What Enter means, and the answer without a terminal. Undefined: an answer is needed. */
  readonly proposal?: string | undefined;
  /** Whether what is typed is not shown. Default: false. */
  readonly isSecret?: boolean;
  readonly read: ReadAnswer<T>;
}

/**
 * Gets the answer to a question: from its option, or at the terminal, where an invalid answer is explained and the
 * question asked again, or its proposal.
 *
 * @param terminal Null for no questions.
 * @throws {UsageError} For an invalid option, or if nothing answers.
 */
export async function answerTo<T>(terminal: Terminal | null, question: Question<T>): Promise<T> {
  const { option, given, proposal } = question;
  if (given === undefined && terminal !== null) return await askUntilValid(terminal, question);
  try {
    return await question.read(given ?? proposal ?? "");
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    throw new UsageError(`switchyard init: --${option}: ${error.message}`);
  }
}

async function askUntilValid<T>(terminal: Terminal, { text, proposal, isSecret, read }: Question<T>): Promise<T> {
  const shown = `${text}${proposal === undefined ? "" : ` [${proposal}]`}: `;
  // Ends with a valid answer. The end of the input, or Ctrl-C, throws.
  while (true) {
    const typed = await (isSecret ? terminal.askSecret(shown) : terminal.ask(shown));
    try {
      return await read(typed || (proposal ?? ""));
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
      terminal.tell(`  ${asSentence(error.message)}`);
    }
  }
}

function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith("?") ? "" : ".");
}
