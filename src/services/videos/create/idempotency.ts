import { keyInUse, keyOfOtherBody } from "../../../platform/http/request/idempotency_key.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../../platform/store/store.ts";
import { type IdempotencyRecord, readIdempotency, readTask } from "../tasks/records.ts";

/** The `Idempotency-Key` of a create request, and the SHA-256 of its body. */
export interface CreateKey extends Pick<IdempotencyRecord, "bodyHash"> {
  readonly key: string;
}

/** Result of a create request with a key. */
export interface IdempotentTask {
  readonly taskId: string;
  /** True if the task existed already. */
  readonly replayed: boolean;
}

/** Another create request with the same key committed first. */
export class KeyTakenError extends Error {
  override readonly name = "KeyTakenError";
}

/**
 * Makes create requests idempotent. For 24 hours, the same key and body from the same credential return the task of the
 * first request. A different body is rejected, and so is a request while the first is still running. Failed requests
 * are not stored. Source: the IETF draft "The Idempotency-Key HTTP Header Field".
 */
export class IdempotentCreates {
  readonly #underWay = new Map<string, string>();

  constructor(private readonly store: Store) {}

  /**
   * @param create Creates the task and its key record in one commit, or throws {@linkcode KeyTakenError}.
   * @throws {GatewayError} `invalid_request` with status 422, or `conflict`; and what `create` throws.
   */
  async run(keyId: string, { key, bodyHash }: CreateKey, create: () => Promise<string>): Promise<IdempotentTask> {
    const name = `${keyId} ${key}`;
    const first = this.#underWay.get(name);
    if (first !== undefined) throw first === bodyHash ? keyInUse() : keyOfOtherBody();
    this.#underWay.set(name, bodyHash);
    try {
      return await this.#standing(keyId, key, bodyHash) ?? { taskId: await create(), replayed: false };
    } catch (error) {
      if (!(error instanceof KeyTakenError)) throw error;
      const standing = await this.#standing(keyId, key, bodyHash);
      if (standing === null) throw keyInUse();
      return standing;
    } finally {
      this.#underWay.delete(name);
    }
  }

  async #standing(keyId: string, key: string, bodyHash: string): Promise<IdempotentTask | null> {
    const record = await readIdempotency(this.store, keyId, key);
    if (record !== null && record.bodyHash !== bodyHash) throw keyOfOtherBody();
    // A late repeat must not create and charge a second task.
    if (record !== null && await readTask(this.store, record.taskId) === null) throw removed();
    return record && { taskId: record.taskId, replayed: true };
  }
}

function removed(): GatewayError {
  return new GatewayError("not_found", "Cannot replay the request: the task of this Idempotency-Key was removed");
}
