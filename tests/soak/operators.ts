import { assertEquals } from "@std/assert";
import type { SeededRandom } from "../e2e/money_walk/random.ts";
import { itemAt } from "../support/items.ts";

/** Where the operator works. */
export interface OperatedGateway {
  readonly address: string;
  readonly adminKey: string;
  readonly account: string;
}

const PERIODS = ["day", "week", "month"];
/** Keys that exist at one time. */
const MAX_KEYS = 6;
const PAUSE_MS = 150;

/** Changes keys, budgets and the configuration while callers work. */
export class Operators {
  #isStopped = false;
  /** The keys that callers may use: id and secret. */
  readonly #keys: { readonly id: string; readonly secret: string }[] = [];
  /** The number of changes. */
  changes = 0;

  constructor(readonly gateway: OperatedGateway, readonly random: SeededRandom) {}

  /** A key that callers may use now. */
  key(): string {
    return this.random.pick(this.#keys).secret;
  }

  /** Creates the first keys, and the model that changes. */
  async prepare(): Promise<void> {
    await this.#changeConfiguration();
    for (let count = 0; count < MAX_KEYS; count++) await this.#addKey();
  }

  /** Runs until {@linkcode Operators.stop}. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#change();
      this.changes++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  /** Makes no more changes. */
  stop(): void {
    this.#isStopped = true;
  }

  async #change(): Promise<void> {
    const action = this.random.next();
    if (action < 0.5) await this.#changeBudget();
    else if (action < 0.7) await this.#replaceKey();
    else if (action < 0.85) await this.#changeConfiguration();
    else await this.#read();
  }

  /** A period that changes while its key is used. */
  async #changeBudget(): Promise<void> {
    const { id } = this.random.pick(this.#keys);
    const budget = { amount: `${this.random.between(50, 500)}.00`, per: this.random.pick(PERIODS) };
    await this.#call("PATCH", `/accounts/${this.gateway.account}/keys/${id}`, { budget });
  }

  async #replaceKey(): Promise<void> {
    await this.#addKey();
    const { id } = itemAt(this.#keys.splice(0, 1), 0);
    await this.#call("DELETE", `/accounts/${this.gateway.account}/keys/${id}`);
  }

  async #addKey(): Promise<void> {
    const { id, secret } = await this.#call("POST", `/accounts/${this.gateway.account}/keys`, {
      name: `soak-${this.random.between(0, 1_000_000)}`,
      concurrency: 50,
      budget: { amount: "100.00", per: "day" },
    });
    this.#keys.push({ id, secret });
  }

  /** The weights of a model change, so that every thread reads a new configuration. */
  async #changeConfiguration(): Promise<void> {
    await this.#call("PUT", "/config/models/soak%2Fboth", {
      pricing: { prompt: "0.000001", completion: "0.000002" },
      serves: [
        { provider: "openai", model: "chat", weight: this.random.between(1, 9) },
        { provider: "google", model: "content", weight: this.random.between(1, 9) },
      ],
    });
  }

  async #read(): Promise<void> {
    await this.#call("GET", this.random.pick(["/requests?limit=20", "/usage?group_by=model", "/providers", "/config"]));
  }

  // deno-lint-ignore no-explicit-any
  async #call(method: string, path: string, body?: unknown): Promise<any> {
    const response = await fetch(`${this.gateway.address}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.gateway.adminKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assertEquals(Math.floor(response.status / 100), 2, `${method} ${path}: ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }
}
