import { createHash } from "node:crypto";
import { GatewayError } from "../../lib/gateway_error.ts";
import type { Store } from "../../store/store.ts";
import { type IdempotencyRecord, readIdempotency, readTask } from "../tasks/records.ts";

/** How long a key stands for its task. */
export const IDEMPOTENCY_MS = 86_400_000;

/** What one use of a key came to. */
export interface IdempotentTask {
  readonly taskId: string;
  /** True when the task stood already. */
  readonly replayed: boolean;
}

/** A create that found its key taken when it committed: another with the same key was first. */
export class KeyTakenError extends Error {
  override readonly name = "KeyTakenError";
}

/**
 * Reads `Idempotency-Key`; null when it was not sent.
 *
 * @throws {GatewayError} `invalid_request` unless it is 1 to 255 visible ASCII characters.
 */
export function readIdempotencyKey(headers: Headers): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new GatewayError(
    "invalid_request",
    'Cannot read the header "Idempotency-Key": expected 1 to 255 visible ASCII characters',
    { field: "Idempotency-Key" },
  );
}

/**
 * Makes creates with one key one task: the same key and body from the same credential give the task of the first for 24
 * hours, another body is refused, and so is a create whose first is still under way. A create that fails is not
 * remembered. As the IETF's draft "The Idempotency-Key HTTP Header Field" has it.
 */
export class IdempotentCreates {
  readonly #underWay = new Map<string, string>();

  constructor(private readonly store: Store) {}

  /**
   * @param create Makes the task and its record in one commit, or throws {@linkcode KeyTakenError}.
   * @throws {GatewayError} `invalid_request` with status 422, or `conflict`; and what `create` throws.
   */
  async run(
    keyId: string,
    key: string,
    body: Uint8Array,
    create: (record: Pick<IdempotencyRecord, "bodyHash">) => Promise<string>,
  ): Promise<IdempotentTask> {
    const bodyHash = createHash("sha256").update(body).digest("hex");
    const name = `${keyId} ${key}`;
    const first = this.#underWay.get(name);
    if (first !== undefined) throw first === bodyHash ? underWay() : otherBody();
    this.#underWay.set(name, bodyHash);
    try {
      return await this.#standing(keyId, key, bodyHash) ?? { taskId: await create({ bodyHash }), replayed: false };
    } catch (error) {
      if (!(error instanceof KeyTakenError)) throw error;
      const standing = await this.#standing(keyId, key, bodyHash);
      if (standing === null) throw underWay();
      return standing;
    } finally {
      this.#underWay.delete(name);
    }
  }

  async #standing(keyId: string, key: string, bodyHash: string): Promise<IdempotentTask | null> {
    const record = await readIdempotency(this.store, keyId, key);
    if (record !== null && record.bodyHash !== bodyHash) throw otherBody();
    // A late repeat must not make, and cost, another one.
    if (record !== null && await readTask(this.store, record.taskId) === null) throw removed();
    return record && { taskId: record.taskId, replayed: true };
  }
}

function otherBody(): GatewayError {
  return new GatewayError("invalid_request", "Cannot use this Idempotency-Key again: it came with another body", {
    status: 422,
    field: "Idempotency-Key",
  });
}

function removed(): GatewayError {
  return new GatewayError("not_found", "Cannot repeat the create: the task of this Idempotency-Key was removed");
}

function underWay(): GatewayError {
  return new GatewayError("conflict", "Cannot answer yet: the first request with this Idempotency-Key is under way", {
    retryAfterSeconds: 1,
  });
}
