import { createHash } from "node:crypto";
import { GatewayError } from "../../lib/gateway_error.ts";
import type { Store } from "../../store/store.ts";
import { type IdempotencyRecord, readIdempotency, readTask } from "../tasks/records.ts";

/** How long an idempotency key is valid. */
export const IDEMPOTENCY_MS = 86_400_000;

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
 * Reads `Idempotency-Key`; null if it was not sent.
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
    // A late repeat must not create and charge a second task.
    if (record !== null && await readTask(this.store, record.taskId) === null) throw removed();
    return record && { taskId: record.taskId, replayed: true };
  }
}

function otherBody(): GatewayError {
  return new GatewayError(
    "invalid_request",
    "Cannot reuse this Idempotency-Key: the first request had a different body",
    {
      status: 422,
      field: "Idempotency-Key",
    },
  );
}

function removed(): GatewayError {
  return new GatewayError("not_found", "Cannot replay the request: the task of this Idempotency-Key was removed");
}

function underWay(): GatewayError {
  return new GatewayError(
    "conflict",
    "Cannot accept the request: another request with this Idempotency-Key is still running",
    {
      retryAfterSeconds: 1,
    },
  );
}
