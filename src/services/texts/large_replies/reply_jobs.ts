import type { ReplayPolicy, ReplyContext } from "../../../conversation/contract/caller_format.ts";
import type { IssuedId, StatePolicy } from "../../../conversation/contract/issued_ids.ts";
import type { CallerFormatName, WireFormatName } from "../../../conversation/neutral/reasoning_signature.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import type { ToolPropertyNames } from "../../../conversation/neutral/write_result.ts";
import type { ReplyNames } from "../relay/caller_reply.ts";
import type { EmulationRule } from "../relay/emulation.ts";
import type { KeptReasoning } from "../memory/reasoning_memory.ts";
import type { TextSample } from "../plan/token_estimate.ts";

/**
 * The work on a large reply, which a thread does. Values are plain, so that they can be sent to it. Bytes are sent as
 * `ArrayBuffer`, which move and are not copied.
 */

interface ReplyBytes {
  /** The reply as the vendor sent it, in buffers that it fills. */
  readonly pieces: readonly ArrayBuffer[];
}

/** Reads a reply whose bytes pass through. */
export interface PassedReplyJob extends ReplyBytes {
  readonly name: "passed";
  /** The format of vendor and caller. */
  readonly format: CallerFormatName;
  /** Which ids the reply issues. */
  readonly policy: StatePolicy;
  /** The caller's names of properties; null if the request has no others. */
  readonly names: ToolPropertyNames | null;
  /** The maker whose name the reply's signatures get; null if they stay as they are. */
  readonly issuer: string | null;
}

/** Reads a reply that is written in another format. */
export interface TranslatedReplyJob extends ReplyBytes {
  readonly name: "translated";
  /** The format of the vendor. */
  readonly format: WireFormatName;
  readonly names: ReplyNames;
  readonly emulation: EmulationRule;
}

/** Reads a reply that {@linkcode TranslatedReplyJob} has read once more, and writes it for the caller. */
export interface WriteReplyJob extends Omit<TranslatedReplyJob, "name"> {
  readonly name: "write";
  readonly accountId: string;
  /** The format of the caller. */
  readonly caller: CallerFormatName;
  readonly context: ReplyContext;
  /** What is kept of the reply for later requests. */
  readonly replay: ReplayPolicy;
  /** The usage that is charged. */
  readonly usage: Usage;
}

/** A job of the thread. */
export type ReplyJob = PassedReplyJob | TranslatedReplyJob | WriteReplyJob;

/** What is read of a reply. */
export interface ReplyFacts extends ReplyBytes {
  /** The usage that the vendor reports; null if it reports none. */
  readonly usage: Usage | null;
  /** The vendor's name of the model that answered; null if it names none. */
  readonly model: string | null;
  /** The number of hosted tool calls. */
  readonly hostedCalls: number;
  /** The fields of the request that the vendor left out, by neutral names. */
  readonly lost: readonly string[];
  /** Its text, of which tokens are counted if the vendor's count is unusable. Null if the reply cannot be read. */
  readonly output: TextSample | null;
}

/** The result of a {@linkcode PassedReplyJob}. Its bytes are those for the caller. */
export interface PassedReplyFacts extends ReplyFacts {
  readonly ids: readonly IssuedId[];
}

/** A value that is kept for later requests: its key, the value, and the number of characters that it counts as. */
export type KeptValue<V> = readonly [key: string, value: V, characters: number];

/** The result of a {@linkcode WriteReplyJob}. */
export interface WrittenReply extends ReplyBytes {
  /** The names of what the caller's format does not have. */
  readonly droppedFields: readonly string[];
  /** The names, in the vendor's spelling, of parts of the reply that were not read. */
  readonly unread: readonly string[];
  readonly reasoning: readonly KeptValue<KeptReasoning>[];
  readonly items: readonly KeptValue<string>[];
}

/** The results by the names of the jobs. */
export interface ReplyJobResults {
  readonly passed: PassedReplyFacts;
  readonly translated: ReplyFacts;
  readonly write: WrittenReply;
}

/** How a job ended. */
export type ReplyJobOutcome<R = ReplyJobResults[ReplyJob["name"]]> =
  | { readonly result: R }
  /** The reply is not one of its format: the class of the error. */
  | { readonly unreadable: string }
  /** The thread could not do the work. */
  | { readonly unavailable: string };
