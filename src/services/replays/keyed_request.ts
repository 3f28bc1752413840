import type { DetachedWork } from "../calls/detached_work.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import { IDEMPOTENCY_MS, keyOfOtherBody, readIdempotencyKey } from "../../platform/http/request/idempotency_key.ts";
import { changedInbound, type Handler, type Inbound } from "../../platform/http/request/inbound.ts";
import type { ByteCipher } from "../../platform/lib/bytes/byte_cipher.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import type { Store } from "../../platform/store/store.ts";
import { fingerprintOf, HashedBody } from "./fingerprint.ts";
import { HeldKey } from "./held_key.ts";
import { holdIdempotencyKey, type HoldKeyParts } from "./hold_key.ts";
import { checkReplyPermitted } from "./permitted_reply.ts";
import type { UsedKey } from "./records.ts";
import { type ReplyEnd, ReplyRecorder } from "./reply_recorder.ts";
import { readReply, type ReplyHead, storeReply } from "./stored_reply.ts";

/** The limits of stored replies. */
export interface ReplayLimits {
  /** The most bytes of one reply. */
  readonly replyBytes: number;
  /** The most bytes of all replies of an account within 24 hours. */
  readonly accountBytes: number;
}

/** The dependencies of requests with an idempotency key. */
export interface KeyedRequestParts extends Omit<HoldKeyParts, "store"> {
  readonly store: Pick<Store, "get" | "commit" | "now">;
  readonly log: Log;
  /** All models. */
  readonly catalog: DatedCatalog;
  /** Opens the cipher of the store, once. */
  readonly cipher: () => Promise<ByteCipher>;
  readonly limits: ReplayLimits;
  /** What a shutdown waits for. */
  readonly detached: DetachedWork;
  /** The largest body of any endpoint. */
  readonly body: BodyLimits;
}

/**
 * Carries out a request with an `Idempotency-Key`, or returns the reply to the first request with it. The vendor's work
 * for a whole reply goes on if the caller disconnects, so that a retry receives it. Source: docs/api/idempotency.md.
 *
 * @throws {GatewayError} `invalid_request` for a bad key, with status 422 for another body; `conflict` while the first
 * request is under way, or if its reply is not stored; `permission_denied` if the key may not use its model any more;
 * `rate_limited` for too many keys; what the handler throws.
 */
export async function answerKeyed(
  handler: Handler,
  inbound: Inbound,
  credential: Credential,
  parts: KeyedRequestParts,
): Promise<Response> {
  const { headers = inbound.request.headers, requestId } = inbound;
  const { accountId, keyId } = credential;
  const idempotencyKey = readIdempotencyKey(headers);
  // A dry run executes nothing, and uses no key.
  if (idempotencyKey === null || headers.get("x-service-dry-run") === "true") return await handler(inbound);
  const held = await holdIdempotencyKey({ accountId, keyId, idempotencyKey, requestId }, parts);
  if (!(held instanceof HeldKey)) return await replay(held, inbound, credential, parts);
  const body = new HashedBody(inbound, parts.body);
  const stopping = new AbortController();
  const onOver = parts.detached.add(() => stopping.abort());
  let response: Response;
  try {
    response = await handler(withOwnBody(inbound, body, stopping.signal));
  } catch (error) {
    if (isCharged(inbound)) await held.use(await body.finish(), null);
    else await held.free();
    await body.drop();
    onOver();
    throw error;
  }
  return recorded(response, { inbound, held, body, parts, accountId, onOver });
}

/** The request with a body that is hashed, and with a signal that does not fire when its caller leaves. */
function withOwnBody(inbound: Inbound, { stream }: HashedBody, signal: AbortSignal): Inbound {
  // Made from the request, since its address may be none that a parser takes.
  const own = new Request(inbound.request, { body: stream, signal });
  const { peerPort: _, ...others } = changedInbound(inbound, { request: own });
  return others;
}

interface RecordedCall {
  readonly inbound: Inbound;
  readonly held: HeldKey;
  readonly body: HashedBody;
  readonly parts: KeyedRequestParts;
  readonly accountId: string;
  /** Called at the end, when a shutdown need not wait any longer. */
  readonly onOver: () => void;
}

/** The response, which is stored when it has ended. */
function recorded(response: Response, call: RecordedCall): Response {
  const { inbound, held, parts } = call;
  const { status, headers } = response;
  if (held.interrupted.length > 0) headers.set("x-service-interrupted", held.interrupted.join(", "));
  const own = inbound.responseFields?.() ?? {};
  const head: ReplyHead = {
    status,
    headers: [...headers].filter(([name]) => !(name in own) && !UNSTORED_FIELDS.has(name)),
  };
  for (const name in own) headers.set(name, own[name]!);
  // A caller that counts the bytes would have the whole reply before it is stored.
  headers.delete("content-length");
  const isStream = isStreamed(inbound, headers);
  // A stream that can be resumed goes on without its caller.
  const endsWithCaller = isStream && !headers.has("x-service-resume");
  const recorder = new ReplyRecorder({
    body: response.body ?? EMPTY.stream(),
    endsWithCaller,
    maxBytes: parts.limits.replyBytes,
    memory: inbound.memory.fork(),
    onEnd: (end, kept) => endReply({ ...call, head, isStream }, end, kept),
  });
  // The platform reports a disconnect to the stream only with the next write.
  if (endsWithCaller) inbound.request.signal.addEventListener("abort", () => holdWork(recorder.cancel()));
  // What waits for a slow caller is kept anyway, so the vendor is not slowed down until then.
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: Math.max(1, parts.limits.replyBytes) });
  return new Response(outputStream(recorder, strategy), { status, headers });
}

const EMPTY = new Blob([]);

/** They belong to one exchange, or to a charge that a repeat does not make. */
const UNSTORED_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "x-service-cost",
  "x-service-cache-saved",
]);

function isStreamed({ endpoint }: Inbound, headers: Headers): boolean {
  return headers.get("content-type") === "text/event-stream" || endpoint.streamsJsonList === true;
}

interface EndedCall extends RecordedCall {
  readonly head: ReplyHead;
  readonly isStream: boolean;
}

async function endReply(call: EndedCall, end: ReplyEnd, kept: readonly Uint8Array[] | null): Promise<void> {
  const { held, body } = call;
  if (canBeRepeated(call, end)) await held.free();
  else {
    const hasNoReply = call.isStream ? kept?.length === 0 : end === "failed";
    const fingerprint = await body.finish();
    await (hasNoReply ? held.use(fingerprint, null) : store(call, kept, fingerprint));
  }
  await body.drop();
  call.onOver();
}

/**
 * Whether the request failed without a charge. A stream that its caller left is charged later. A thread that answers a
 * large request reports its charge after the reply.
 */
function canBeRepeated({ inbound, head: { status }, isStream }: EndedCall, end: ReplyEnd): boolean {
  const { record } = inbound;
  if (isCharged(inbound)) return false;
  if (status >= 400) return true;
  const isKnown = record.attempts.length > 0;
  return isStream && end !== "left" && isKnown && record.end !== "completed";
}

function isCharged({ record }: Inbound): boolean {
  return record.cost !== null && record.cost > 0n;
}

/** Stores the reply if it fits. The key is used in any case. Never rejects. */
async function store(call: EndedCall, kept: readonly Uint8Array[] | null, fingerprint: string | null): Promise<void> {
  const { held, accountId: account, head, parts, inbound: { requestId } } = call;
  const bytes = kept?.reduce((sum, chunk) => sum + chunk.length, 0) ?? 0;
  let counted = 0;
  try {
    const most = { bytes: parts.limits.accountBytes };
    if (kept === null || !await parts.counts.take(account, { bytes }, most)) {
      return void await held.use(fingerprint, null);
    }
    counted = bytes;
    const reply = await storeReply(account, head, kept, { store: parts.store, cipher: await parts.cipher() });
    await held.use(fingerprint, reply);
  } catch (error) {
    if (counted > 0) await parts.counts.giveBack(account, { bytes: counted });
    parts.log.warn("reply_not_stored", {
      requestId,
      accountId: account,
      reason: errorName(error),
    });
    await held.use(fingerprint, null);
  }
}

/** The stored reply of an earlier request. */
async function replay(
  used: UsedKey,
  inbound: Inbound,
  { accountId: account, limits }: Credential,
  parts: KeyedRequestParts,
): Promise<Response> {
  const fingerprint = await fingerprintOf(inbound, parts.body);
  if (used.fingerprint !== null && used.fingerprint !== fingerprint) throw keyOfOtherBody();
  const reply = used.reply === null
    ? null
    : await readReply(account, used.reply, { store: parts.store, cipher: await parts.cipher() });
  if (reply === null) throw notStored(used);
  const { head: { status, headers }, body } = reply;
  checkReplyPermitted(headers, limits, parts.catalog.at(inbound.receivedAt));
  return new Response(status === 204 ? null : body, {
    status,
    headers: [
      ...headers.map(([name, value]): [string, string] => [name, value]),
      ["idempotent-replayed", "true"],
      ["x-service-original-request-id", used.requestId],
    ],
  });
}

function notStored({ requestId, expiresAt }: UsedKey): GatewayError {
  const at = new Date(expiresAt - IDEMPOTENCY_MS).toISOString();
  return new GatewayError(
    "conflict",
    `Cannot repeat the reply to ${requestId} of ${at}: it was too large, had no content, or is no longer stored; ` +
      "send the request with another Idempotency-Key, which charges it again",
    { field: "Idempotency-Key", isFinal: true },
  );
}
