import { highestReservation } from "../../money/billing/meter/highest_reservation.ts";
import { fixedReservation } from "../../money/billing/meter/meter.ts";
import type { RecordedAttempt } from "../../platform/http/request/request_record.ts";
import { joinOptions } from "../calls/options.ts";
import { type CallParts, runPaidCall } from "../calls/paid_call.ts";
import type { RelayParts } from "../calls/stream_relay.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import { MEDIA_FALLBACK } from "../../vendors/routing/fallback_rule.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import type {
  ImageCall,
  ImageEvent,
  ImageOrder,
  ImageOutcome,
  ImageSource,
  ImageUpstream,
  SvgChoice,
} from "../../vendors/upstreams/contract/image_upstream.ts";
import { isStreamedOrder } from "../../vendors/upstreams/shared/images/image_limits.ts";
import { droppedOptionsOf } from "../../vendors/upstreams/shared/images/dropped_image_options.ts";
import { vendorRequestIdOf } from "../../vendors/upstreams/call/vendor_request_id.ts";
import { type FinishedImages, imageResponse } from "./image_response.ts";
import { chargeImages, consumptionOf, type ImageBill } from "./bill.ts";
import { CallerLink } from "./caller_link.ts";
import type { FinishedImage, ImageFinisher } from "./finished_image.ts";
import { ImageMemory, isOutOfMemory } from "./image_memory.ts";
import { imageOptionsOf, imageUpstreamOf } from "./image_option.ts";
import type { ImageCaller, ImageRequest } from "./request/image_request.ts";
import type { ReferenceReader } from "./request/reference_image.ts";
import { makeImages } from "./several.ts";
import { type ChargedSvg, chargedSvg } from "./svg_usage.ts";
import { type ImageStep, imageStreamResponse } from "./stream.ts";
import { readReferencesOf } from "./read_references.ts";

/** The dependencies of image requests. */
export interface ImageParts extends Omit<CallParts, "openStreams">, RelayParts {
  readonly catalog: DatedCatalog;
  readonly readReferences: ReferenceReader;
  readonly finish: ImageFinisher;
}

/** One request at one provider. */
interface ImageAttempt {
  readonly request: ImageRequest;
  readonly order: ImageOrder;
  readonly provider: string;
  readonly upstream: ImageUpstream;
  readonly bill: ImageBill;
  readonly link: CallerLink;
  readonly memory: ImageMemory;
  /** Null if the attempt is not recorded. */
  readonly recorded: RecordedAttempt | null;
  readonly writeError: ImageCaller["writeError"];
}

/** Runs image requests end to end: routes, admits, downloads references, sends, charges, responds. */
export class ImageCalls {
  constructor(readonly parts: ImageParts) {}

  /**
   * Responds with the pictures.
   *
   * @param requests The request for its model, then for the fallbacks that are tried if all providers of that model
   * fail.
   * @throws {GatewayError} Before the first byte; afterwards a failure is an event of the stream.
   */
  async run(requests: readonly ImageRequest[], asker: ImageCaller): Promise<Response> {
    const { requestId, accountId, keyId, receivedAt, record, writeError } = asker;
    const made = await imageOptionsOf(requests, asker, this.parts);
    const { options, candidates, optionOf } = joinOptions(made, { breaker: this.parts.breaker, accountId });
    const { request: first } = elementAt(options, 0);
    record.model = first.modelName;
    record.dropped = first.droppedFields;
    return await runPaidCall({
      facts: { kind: "image", requestId, accountId, keyId, receivedAt, record, model: first.model },
      caller: asker,
      author: "openai",
      candidates,
      isPaid: (candidate, { amount }) => optionOf(candidate).amount <= amount,
      rule: MEDIA_FALLBACK,
      callerSignal: asker.callerSignal,
      reserve: highestReservation(options.map(({ amount, tokens }) => fixedReservation(amount, tokens))),
      begin: async (settlement) => {
        const link = new CallerLink(asker.callerSignal());
        const memory = new ImageMemory(asker.memory, first.count);
        const read = await readReferencesOf(first, this.parts.readReferences, {
          accountId,
          keyId,
          signal: link.signal,
          reserve: memory.reserveReference,
        });
        return (candidate) => {
          const { request: asked, measure } = optionOf(candidate);
          const upstream = imageUpstreamOf(candidate, this.parts)!;
          const images = asked.references.length === 0 ? asked.images : read.images;
          const order = orderOf({ ...asked, mask: asked.mask ?? read.mask }, candidate, images);
          const droppedFields = [...new Set([...asked.droppedFields, ...droppedOptionsOf(upstream, order)])];
          const request = { ...asked, droppedFields };
          record.dropped = droppedFields;
          const bill = { settlement: settlement.servedBy(request.model, null), measure };
          memory.beginAttempt();
          const provider = providerNameOf(candidate.provider);
          const recorded = record.lastAttempt;
          return this.#attempt({ request, order, provider, upstream, bill, link, memory, recorded, writeError });
        };
      },
    }, this.parts);
  }

  async #attempt(attempt: ImageAttempt): Promise<Response> {
    const { request, provider, bill, link } = attempt;
    if (link.hasLeft) throw leftBefore(provider);
    link.detach();
    if (request.stream) return await this.#openStream(attempt);
    const work = await this.#make(attempt);
    const { outcome: { consumption }, charged: made, look, svg } = work;
    await chargeImages(bill, { provider, made, look, consumption, svg, state: "completed" });
    return imageResponse(request, work, provider, this.parts.clock.now());
  }

  /** Pictures that exceed the memory limit are charged: the vendor has made them. */
  async #make(attempt: ImageAttempt): Promise<FinishedImages> {
    const { request, provider, bill } = attempt;
    try {
      const outcome = await makeImages(attempt.upstream, request.kind, attempt.order, callOf(attempt));
      return await this.#finished(outcome, attempt);
    } catch (error) {
      if (isOutOfMemory(error)) {
        await chargeImages(bill, { provider, made: request.count, consumption: null, state: "cut" });
      }
      throw error;
    }
  }

  async #openStream(attempt: ImageAttempt): Promise<Response> {
    const { request, provider, bill, link, memory, writeError } = attempt;
    const steps = this.#stepsOf(attempt);
    const { done, value } = await steps.next();
    if (done) {
      throw new UpstreamFailure(provider, "broken", `Provider "${provider}" ended its stream without an image`, {
        status: 200,
        accepted: "unknown",
      });
    }
    const onEnd = memory.outliveRequest();
    return imageStreamResponse(
      { request, provider, first: value, rest: steps, bill, link, memory: memory.fork(), onEnd, writeError },
      this.parts,
    );
  }

  async *#stepsOf(attempt: ImageAttempt): AsyncGenerator<ImageStep, void> {
    for await (const event of eventsOf(attempt)) {
      if (event.type === "partial") yield event;
      else return yield { type: "completed", work: await this.#finished(event.outcome, attempt) };
    }
  }

  async #finished(
    outcome: ImageOutcome,
    { request, provider, bill, link, memory }: ImageAttempt,
  ): Promise<FinishedImages> {
    const takesSvg = request.outputFormat === "svg";
    const fetching = { signal: link.signal, reserve: memory.reserveResult, takesSvg };
    const images = await Promise.all(outcome.images.map((image) => this.parts.finish(image, provider, fetching)));
    // The vendor's tokens count all pictures, so all are returned; the price of a picture applies to ordered ones.
    const charged = Math.min(images.length, request.count);
    const sizes = images.slice(0, charged).map((image) => image.measure());
    const look = { sizes, quality: outcome.quality };
    const { consumption } = outcome;
    const own = consumptionOf(bill, { consumption, made: charged, look });
    const svg = this.#svgOf({ request, outcome, bill, provider, madeBytes: lengthOf(images) });
    return { outcome, images, charged, look, consumption: own, svg };
  }

  #svgOf({ request, outcome, bill, provider, madeBytes }: MadeDrawings): ChargedSvg | null {
    if (request.svg === null) return null;
    const { measure, settlement: { facts } } = bill;
    const made = { ordered: request.svg.model, measure, madeBytes, provider };
    return chargedSvg(outcome.svgUsage, made, this.parts.catalog.at(facts.receivedAt));
  }
}

/** What decides on the charge of the author of drawings. */
interface MadeDrawings extends Pick<ImageAttempt, "request" | "bill" | "provider"> {
  readonly outcome: ImageOutcome;
  readonly madeBytes: number;
}

/** The number of bytes of pictures. */
function lengthOf(images: readonly FinishedImage[]): number {
  return images.reduce((sum, { base64Length }) => sum + Math.floor(base64Length * 3 / 4), 0);
}

/** No vendor is called for a disconnected caller. */
function leftBefore(provider: string): UpstreamFailure {
  const message = `Provider "${provider}" was cancelled`;
  return new UpstreamFailure(provider, "cancelled", message, { status: null, accepted: "no" });
}

/** The vendor's own stream, or its response as the only event of one. */
async function* eventsOf(attempt: ImageAttempt): AsyncGenerator<ImageEvent, void> {
  const { upstream, order, request: { kind } } = attempt;
  if (upstream.stream !== null && isStreamedOrder(upstream, order)) {
    return yield* upstream.stream(order, callOf(attempt), kind);
  }
  yield { type: "completed", outcome: await makeImages(upstream, kind, order, callOf(attempt)) };
}

function callOf({ link, memory, recorded }: ImageAttempt): ImageCall {
  return {
    callerSignal: () => link.signal,
    reserve: memory.reserveReply,
    // Of several requests of one attempt, the first is recorded.
    onResponse(response) {
      if (recorded === null || recorded.status !== null) return;
      recorded.status = response.status;
      recorded.vendorRequestId = vendorRequestIdOf((name) => response.header(name));
    },
  };
}

/** The order of a request for a vendor's model. */
export function orderOf(request: ImageRequest, candidate: Candidate, images: readonly ImageSource[]): ImageOrder {
  const { model } = candidate;
  const { prompt, quality, count, size, mask, outputFormat, background, inputFidelity, partialImages } = request;
  const { extras } = request;
  const look = { quality, count, size, outputFormat, background, inputFidelity, partialImages };
  return { model, prompt, images, mask, ...look, svg: svgChoiceOf(request, candidate), extras };
}

/** The author of a drawing by the name that the candidate's vendor has for it. */
function svgChoiceOf({ svg }: ImageRequest, candidate: Candidate): SvgChoice | null {
  if (svg === null) return null;
  const { model: { serves, id }, isNamed, effort } = svg;
  const provider = providerNameOf(candidate.provider);
  const name = serves.find((each) => each.provider === provider)?.model ?? id.slice(id.indexOf("/") + 1);
  return { model: isNamed ? name : null, effort };
}
