import type { OtherAnswer } from "../conversation/answering_models.ts";
import type { Log } from "../lib/log.ts";

/** Logs each other model with which a vendor answers once, and passes it to the threads. */
export class OtherAnswers {
  /** Threads that answer requests add their own. */
  readonly listeners: ((answer: OtherAnswer) => void)[] = [];

  constructor(private readonly log: Log) {}

  /** A vendor has answered with another model than the requested one, for the first time. */
  readonly note = (answer: OtherAnswer): void => {
    const { provider, asked, answering } = answer;
    this.log.info("other_model_answered", { provider, model: asked, ref: answering });
    for (const listener of this.listeners) listener(answer);
  };
}
