import type { Config } from "../../config/config.ts";
import type { OwnAddress } from "../../platform/net/target.ts";
import type { ListedStep } from "../../vendors/catalog/listed_step.ts";
import type { ServingData, ToServing } from "./messages.ts";

/** What serving threads start with. */
export type ServingStart = Pick<ServingData, "config" | "listed" | "own">;

/** What the serving threads of a group know of the gateway: they start with it, and are told what changes. */
export class ServingFacts {
  readonly #own: OwnAddress[];
  #config: Config;
  #listed: readonly ListedStep[];

  /** @param tell Sends a message to all threads of the group. */
  constructor({ config, listed, own }: ServingStart, private readonly tell: (message: ToServing) => void) {
    this.#config = config;
    this.#listed = listed;
    this.#own = [...own];
  }

  /** What a thread starts with now. */
  get start(): ServingStart {
    return { config: this.#config, listed: this.#listed, own: this.#own };
  }

  /** Blocks downloads from that address. */
  addOwnAddress(address: OwnAddress): void {
    this.#own.push(address);
    this.tell({ type: "own-address", address });
  }

  /** Adds these models to the configured ones, in the place of those that providers listed before. */
  setListed(listed: readonly ListedStep[]): void {
    this.#listed = listed;
    this.tell({ type: "listed", listed });
  }

  /**
   * Uses another configuration for later requests.
   *
   * @param id The threads acknowledge the change with it. Default 0: nobody waits for that.
   */
  setConfig(config: Config, listed: readonly ListedStep[], id = 0): void {
    this.#config = config;
    this.#listed = listed;
    this.tell({ type: "config", id, config, listed });
  }
}
