import type { ListedStep } from "../../vendors/catalog/listed_step.ts";
import type { Config } from "../../config/config.ts";
import type { WrongKeys } from "../../platform/http/wrong_keys.ts";
import type { OtherAnswer } from "../../conversation/models/answering_models.ts";
import { waitAtMost } from "../../platform/lib/basics/clock.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import { ThreadUnavailable } from "../../platform/workers/worker_thread.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import { Isolate, type IsolateOptions } from "./isolate.ts";
import type { ThreadJournalPlace } from "../leases/thread_journals.ts";
import type { ToServing } from "./messages.ts";
import { ServingFacts, type ServingStart } from "./serving_facts.ts";

/** Options of {@linkcode Isolates}. */
export interface IsolatesOptions extends IsolateOptions, ServingStart {
  /** Counts the wrong keys of requests for catalogs, which every isolate counts too. */
  readonly publicWrongKeys: Pick<WrongKeys, "note">;
}

/**
 * Why several isolates are of little use on a system; null on Linux, which distributes the connections to one address
 * among all threads that listen there.
 *
 * @param os As `Deno.build.os` names it.
 */
export function unbalancedReason(os: string): string | null {
  return os === "linux"
    ? null
    : `${os} gives most connections to one of several threads: expected server.isolates: 1, or auto, which is 1 here`;
}

/** An isolate that ended is started again after this time, which doubles up to the maximum. */
const MIN_RESTART_MS = 100;
const MAX_RESTART_MS = 10_000;
/** How long a stop waits for the last records and charges of isolates, after the time of their requests. */
const LAST_WORK_MS = 6_000;

/**
 * Threads that accept connections at one address and answer text requests. The main thread has the store, the money,
 * the jobs and the other endpoints. An isolate that ends is started again; its requests fail, and those of the others
 * continue.
 */
export class Isolates {
  /** What all isolates know of the gateway. A configuration is replaced by {@linkcode Isolates.setConfig}. */
  readonly facts: ServingFacts;
  readonly #members = new Set<Isolate>();
  readonly #acknowledgements: Acknowledgements<Isolate>;
  #restartMs = MIN_RESTART_MS;
  #isStarted = false;
  #isStopping = false;
  #changes: Promise<void> = Promise.resolve();

  constructor(readonly options: IsolatesOptions) {
    this.facts = new ServingFacts(options, (message) => this.#postAll(message));
    this.#acknowledgements = new Acknowledgements(options.clock);
  }

  /** The number of isolates that accept connections. */
  get listening(): number {
    return [...this.#members].filter(({ isListening }) => isListening).length;
  }

  /**
   * Starts all isolates.
   *
   * @throws {Error} If one cannot accept connections. The others are ended then.
   */
  async start(): Promise<void> {
    const slots = Array.from({ length: this.options.count }, (_, n) => n + 1);
    const { journals } = this.options;
    const places = journals && await Promise.all(slots.map((slot) => journals.placeOf(slot)));
    const members = slots.map((slot, n) => this.#startMember(slot, places?.[n] ?? null));
    try {
      await Promise.all(members.map(({ listening }) => listening));
      this.#isStarted = true;
    } catch (error) {
      this.#isStopping = true;
      await Promise.all(members.map((member) => this.#end(member)));
      throw error;
    }
  }

  /** Tells all isolates that a vendor answered with another model than the requested one. */
  noteOtherAnswer(answer: OtherAnswer): void {
    this.#postAll({ type: "other-answer", answer });
  }

  /** Uses another configuration for later requests. {@linkcode Isolates.changesApplied} resolves when all do. */
  setConfig(config: Config, listed: readonly ListedStep[]): void {
    this.#change((id) => this.facts.setConfig(config, listed, id));
  }

  /** Forgets an account's keys. {@linkcode Isolates.changesApplied} resolves when all isolates have. */
  evictAccount(accountId: string): void {
    this.#change((id) => this.#postAll({ type: "evict", id, accountId }));
  }

  /** Removes the kept replies of an account. {@linkcode Isolates.changesApplied} resolves when all isolates have. */
  forgetReplies(accountId: string): void {
    this.#change((id) => this.#postAll({ type: "forget-replies", id, accountId }));
  }

  /** Resolves when all isolates apply the changes so far, or have ended. */
  get changesApplied(): Promise<void> {
    return this.#changes;
  }

  /** Resolves when the observer has received the records of all requests that have ended. */
  recordsSent(): Promise<void> {
    return this.#acknowledgedByAll((id) => this.#postAll({ type: "send-records", id }));
  }

  /** Asks callers to reconnect, or not, and closes connections without a request, as {@linkcode Listening} does. */
  onDescriptors(isTight: boolean, renews: boolean): void {
    this.#postAll({ type: "descriptors", isTight, renews });
  }

  /** Ends all open streams, and calls without a response, with an error of their protocol. */
  abortForStop(): void {
    this.#postAll({ type: "abort-for-stop" });
  }

  /** Stops accepting, waits up to `graceMs` for running requests, and ends the isolates. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#postAll({ type: "stop", graceMs });
    const stopped = Promise.all([...this.#members].map((member) => member.stopped));
    await waitAtMost(this.options.clock, graceMs + LAST_WORK_MS, stopped);
    await Promise.all([...this.#members].map((member) => this.#end(member)));
  }

  /** @param tell Sends all isolates a message with that id, which they acknowledge. */
  #change(tell: (id: number) => void): void {
    this.#changes = Promise.all([this.#changes, this.#acknowledgedByAll(tell)]).then(() => {});
  }

  #acknowledgedByAll(tell: (id: number) => void): Promise<void> {
    return this.#acknowledgements.ofAll(this.#members, tell);
  }

  #postAll(message: ToServing): void {
    for (const member of this.#members) member.post(message);
  }

  #startMember(slot: number, journal: ThreadJournalPlace | null): Isolate {
    const start = { slot, journal, ...this.facts.start };
    const member: Isolate = new Isolate(this.options, start, {
      onListening: () => void (this.#restartMs = MIN_RESTART_MS),
      onUnable: (reason) => this.#onUnable(member, reason),
      onCrash: () => this.#replace(member),
      onPublicWrongKey: (address) => {
        this.options.publicWrongKeys.note(address);
        this.#postAll({ type: "public-wrong-key", address });
      },
      onAcknowledged: (id) => this.#acknowledgements.add(member, id),
    });
    this.#members.add(member);
    return member;
  }

  /** At the start {@linkcode Isolates.start} reports it; later the others go on while this one is tried again. */
  #onUnable(member: Isolate, reason: string): void {
    if (this.#isStarted) this.options.log.error("isolate_not_listening", { reason });
    this.#replace(member);
  }

  /** Ends an isolate and starts another one in a while. */
  #replace(member: Isolate): void {
    const ended = this.#end(member);
    if (!this.#isStopping) this.#restartLater(member.slot, ended);
  }

  #restartLater(slot: number, ended: Promise<void>): void {
    const delayMs = this.#restartMs;
    this.#restartMs = Math.min(2 * this.#restartMs, MAX_RESTART_MS);
    this.options.clock.after(delayMs, () => holdState(this.#restart(slot, ended), "a thread's journal"));
  }

  /** The journal of the isolate before must be read first. */
  async #restart(slot: number, ended: Promise<void>): Promise<void> {
    const { journals } = this.options;
    if (journals !== null) await ended;
    const journal = journals && await journals.placeOf(slot);
    if (this.#isStopping) return;
    try {
      this.#startMember(slot, journal);
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      this.options.log.error("isolate_not_started", { reason: error.message });
      this.#restartLater(slot, Promise.resolve());
    }
  }

  async #end(member: Isolate): Promise<void> {
    if (!this.#members.delete(member)) return;
    this.#acknowledgements.addEnded(member);
    await member.end(() => this.#isStopping);
  }
}
