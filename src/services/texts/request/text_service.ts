import { highestReservation } from "../../../money/billing/meter/highest_reservation.ts";
import type { Reservation } from "../../../money/billing/meter/meter.ts";
import type { CallOptions } from "../../calls/options.ts";
import { runPaidCall } from "../../calls/paid_call.ts";
import type { PassThrough } from "../../../conversation/contract/pass_through.ts";
import { rejectUnmeteredWork } from "../../../conversation/parts/reply/unmetered_work.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { TEXT_FALLBACK } from "../../../vendors/routing/fallback_rule.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { TextAttempt, TextParts, TextRequest } from "../plan/attempt.ts";
import { errorOfCache } from "../plan/cached_request.ts";
import { chargeText } from "../charge/charge_text.ts";
import { translationEndpointOf } from "../plan/translation_endpoint.ts";
import { passThroughEndpointOf } from "../plan/pass_through_endpoint.ts";
import { passThrough } from "../send/pass_through.ts";
import { notePrompt } from "../prompt_caching/prompt_caching.ts";
import { type TextOption, textOptionsOf } from "./text_options.ts";
import { fitWithin, textReservation } from "../plan/text_reservation.ts";
import { isReasoningRefused } from "../send/refused_reasoning.ts";
import { translate } from "../send/translate.ts";
import { estimatedUsageOf } from "../charge/request_usage.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const dryRunModule = new Late(() => import("./dry_run.ts"));
const unknownRefusalModule = new Late(() => import("./unknown_refusal.ts"));
const goneModelModule = new Late(() => import("./gone_model.ts"));

/** The usual number of bytes of a prompt per token. */
const BYTES_PER_TOKEN = 4;

/** Handles one request end to end: validation, routing, admission, sending, relaying, charging. */
export class TextService {
  constructor(readonly parts: TextParts) {}

  /**
   * Returns a response with the model's reply in the caller's format, or with the result of a dry run.
   *
   * @throws {GatewayError} Before the first byte. Later failures are events of the stream.
   */
  async handle(request: TextRequest): Promise<Response> {
    request.format.check(request.body);
    rejectUnmeteredWork(request.body);
    if (request.format.replay.items) await this.parts.items.load(request.accountId, request.body);
    const found = await textOptionsOf(request, this.parts);
    if (request.isDryRun !== true) return await this.#run(request, found);
    return await (await dryRunModule.load()).dryRunText(request, found.options, this.parts);
  }

  #run(request: TextRequest, { options, candidates, optionOf }: CallOptions<TextOption>): Promise<Response> {
    const first = elementAt(options, 0);
    const { requestId, accountId, keyId, receivedAt, record } = request;
    const catalog = this.parts.catalog.at(receivedAt);
    const limitFor = (option: TextOption, { amount, outputLimit }: Reservation) =>
      option === first ? { outputLimit } : fitWithin(amount, option.measure, option.rates);
    return runPaidCall({
      facts: { kind: "text", requestId, accountId, keyId, receivedAt, record, model: first.model },
      caller: request,
      author: request.format.author,
      candidates,
      isPaid: (candidate, reserved) => limitFor(optionOf(candidate), reserved) !== null,
      rule: TEXT_FALLBACK,
      promptTokens: Math.min(first.measure.promptTokens, Math.ceil(request.bytes.length / BYTES_PER_TOKEN)),
      callerSignal: request.callerSignal,
      reserve: highestReservation(options.map(({ measure, rates }) => textReservation(measure, rates))),
      begin: (admitted) => (candidate) => {
        const option = optionOf(candidate);
        const { request, model, others, measure } = option;
        const settlement = admitted.servedBy(model, limitFor(option, admitted.admission.reserved)!.outputLimit);
        const begunAt = this.parts.clock.now();
        const isBatched = this.parts.batch !== undefined;
        return this.#attempt({ request, measure, model, others, catalog, candidate, settlement, begunAt, isBatched });
      },
    }, this.parts);
  }

  async #attempt(begun: BegunAttempt): Promise<Response> {
    const { request, model, candidate } = begun;
    const heldBefore = request.memory.held;
    try {
      const provider = this.parts.providers.get(candidate.provider)!;
      const own = passThroughEndpointOf(request, { provider, model, name: candidate.model });
      const endpoint = own ?? translationEndpointOf(request, provider, begun);
      const attempt = { ...begun, provider, endpoint };
      try {
        const response = await this.#send(attempt, own?.passThrough ?? null);
        notePrompt(attempt, this.parts);
        return response;
      } catch (error) {
        await this.#noteRefusal(error, attempt);
        await chargeIfLeft(attempt, error);
        throw await asGoneModel(error, attempt);
      }
    } catch (error) {
      request.memory.releaseTo(heldBefore);
      throw request.cache ? errorOfCache(error, request.cache) : error;
    }
  }

  /** Notes a field that the vendor refused. What that needs is loaded for the first refusal. */
  async #noteRefusal(error: unknown, attempt: TextAttempt): Promise<void> {
    if (!(error instanceof UpstreamFailure) || error.kind !== "invalid") return;
    const loaded = await unknownRefusalModule.load().catch(() => null); // the refusal itself must reach the caller
    loaded?.noteUnknownRefusal(error, attempt, this.parts.log);
  }

  /** Sends a request, and once more without the reasoning of earlier turns if the vendor refuses it. */
  #send(attempt: TextAttempt, pass: PassThrough | null): Promise<Response> {
    const send = (each: TextAttempt) =>
      pass === null ? translate(each, this.parts) : passThrough(each, pass, this.parts);
    return send(attempt).catch((error) => {
      if (!isReasoningRefused(error, attempt)) throw error;
      const { provider, candidate, request } = attempt;
      this.parts.log.info("reasoning_refused", {
        requestId: request.requestId,
        provider: provider.name,
        model: candidate.model,
      });
      return send({ ...attempt, dropsReasoning: true });
    });
  }
}

/** An attempt before its endpoint is chosen. */
type BegunAttempt = Omit<TextAttempt, "provider" | "endpoint">;

/** A refusal of a model that the vendor no longer has names its successor. The code is loaded for the first refusal. */
async function asGoneModel(error: unknown, { model, candidate }: TextAttempt): Promise<unknown> {
  if (!(error instanceof UpstreamFailure) || error.kind !== "invalid") return error;
  const loaded = await goneModelModule.load().catch(() => null);
  return loaded === null ? error : loaded.withSuccessor(error, { model, name: candidate.model });
}

/**
 * Charges the prompt if the caller disconnects after the vendor received the request and before the reply begins. The
 * vendor has read the prompt and may charge for it. A failure is logged by the meter.
 */
async function chargeIfLeft(attempt: TextAttempt, error: unknown): Promise<void> {
  if (!(error instanceof UpstreamFailure) || error.kind !== "cancelled" || error.facts.accepted === "no") return;
  const usage = await estimatedUsageOf(attempt.request, 0);
  await chargeText(attempt, usage, "left")?.catch(() => {});
}
