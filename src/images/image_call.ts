import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { type Candidate, candidatesFor } from "../routing/candidates.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import { type Judgement, tryInTurn } from "../routing/fallback.ts";
import { errorForCaller, logFallback } from "../routing/judgement.ts";
import { resolvePin } from "../routing/pin.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { ImageEvent, ImageOrder, ImageOutcome, ImageSource, ImageUpstream } from "../upstreams/image_upstream.ts";
import type { Provider } from "../upstreams/provider.ts";
import { type FinishedWork, wholeAnswer } from "./answer.ts";
import { type BillParts, type ImageBill, openBill } from "./bill.ts";
import { CallerLink } from "./caller_link.ts";
import { type ImagePrices, imagePricesOf } from "./consumption.ts";
import type { ImageFinisher } from "./finished_image.ts";
import type { ImageAsker, ImageRequest } from "./image_request.ts";
import type { ReferenceReader } from "./reference_image.ts";
import { editingUnsupported } from "./series.ts";
import { makeImages } from "./several.ts";
import { type ImageStep, streamedAnswer, type StreamParts } from "./stream.ts";

/** What requests for pictures are carried out with. */
export interface ImageParts extends BillParts, StreamParts {
  readonly catalog: Catalog;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  readonly readReferences: ReferenceReader;
  readonly finish: ImageFinisher;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** One request on its way to one provider. */
interface ImageAttempt {
  readonly request: ImageRequest;
  readonly order: ImageOrder;
  readonly provider: string;
  readonly upstream: ImageUpstream;
  readonly bill: ImageBill;
  readonly link: CallerLink;
  readonly writeError: ImageAsker["writeError"];
}

/** Carries out requests for pictures, end to end: routes, admits, fetches references, sends, charges, answers. */
export class ImageCalls {
  readonly #prices = new Map<Model, ImagePrices>();

  constructor(readonly parts: ImageParts) {
    for (const model of parts.catalog.models) if (model.image) this.#prices.set(model, imagePricesOf(model));
  }

  /**
   * Answers with the pictures.
   *
   * @throws {GatewayError} Before the first byte; afterwards a failure is an event of the stream.
   */
  async run(request: ImageRequest, asker: ImageAsker): Promise<Response> {
    const candidates = this.#route(request, asker);
    const bill = await this.#admit(request, asker);
    const link = new CallerLink(asker.callerSignal());
    try {
      const images = request.references.length === 0
        ? request.images
        : await this.parts.readReferences(request.references, link.signal);
      const attempt = (candidate: Candidate) => {
        const upstream = this.#upstreamOf(candidate)!;
        const order = orderOf(request, candidate.model, images);
        const { writeError } = asker;
        return this.#attempt({ request, order, provider: candidate.provider, upstream, bill, link, writeError });
      };
      return await tryInTurn(
        candidates,
        this.parts.breaker,
        attempt,
        judge,
        (candidate, error) => logFallback(this.parts.log, candidate, error, asker.requestId),
      );
    } catch (error) {
      bill.release();
      throw errorForCaller(error);
    }
  }

  /** The providers to try. Source: SPEC "Provider routing (cross-cutting)". */
  #route({ model, kind, bodyPin }: ImageRequest, { headerPin }: ImageAsker): readonly Candidate[] {
    const { providers, breaker, random } = this.parts;
    const pin = resolvePin(headerPin, bodyPin, model.id, model.serves, (name) => providers.has(name));
    const able = candidatesFor(model.serves, pin, (name) => breaker.isResting(name), random).filter((candidate) => {
      const upstream = this.#upstreamOf(candidate);
      return upstream !== null && (kind === "generate" || upstream.edit !== null);
    });
    if (able.length > 0) return able;
    if (kind === "edit") throw editingUnsupported(model.id);
    throw new GatewayError("route_error", `Cannot route: no provider of "${model.id}" makes images`);
  }

  #upstreamOf(candidate: Candidate): ImageUpstream | null {
    return this.parts.providers.get(candidate.provider)?.images ?? null;
  }

  #admit(request: ImageRequest, { requestId, accountId, receivedAt }: ImageAsker): Promise<ImageBill> {
    const { model, prompt, quality, size, count, images, references } = request;
    const measure = { prompt, quality, size, count, given: images.length + references.length };
    const prices = this.#prices.get(model)!;
    return openBill({ requestId, accountId, receivedAt, model: model.id, prices, measure }, this.parts);
  }

  async #attempt(attempt: ImageAttempt): Promise<Response> {
    const { request, provider, bill } = attempt;
    if (request.stream) return await this.#openStream(attempt);
    const outcome = await makeImages(attempt.upstream, request.kind, attempt.order, callOf(attempt));
    const work = await this.#finished(outcome, attempt);
    const { consumption } = outcome;
    await bill.charge({ provider, made: work.images.length, consumption, state: "completed" });
    return wholeAnswer(request, work, provider, this.parts.clock.now());
  }

  async #openStream(attempt: ImageAttempt): Promise<Response> {
    const { request, provider, bill, link, writeError } = attempt;
    const steps = this.#stepsOf(attempt);
    const { done, value } = await steps.next();
    if (done) {
      throw new UpstreamFailure(provider, "broken", `Provider "${provider}" ended its stream without an image`, {
        status: null,
        accepted: "unknown",
      });
    }
    return streamedAnswer({ request, provider, first: value, rest: steps, bill, link, writeError }, this.parts);
  }

  async *#stepsOf(attempt: ImageAttempt): AsyncGenerator<ImageStep, void> {
    for await (const event of eventsOf(attempt)) {
      if (event.type === "partial") yield event;
      else return yield { type: "completed", work: await this.#finished(event.outcome, attempt) };
    }
  }

  async #finished(outcome: ImageOutcome, { provider, bill, link }: ImageAttempt): Promise<FinishedWork> {
    const images = await Promise.all(outcome.images.map((image) => this.parts.finish(image, provider, link.signal)));
    return {
      outcome,
      images,
      consumption: bill.consumptionOf({ consumption: outcome.consumption, made: images.length }),
    };
  }
}

/** The vendor's own stream, or its whole answer as the one event of one. */
async function* eventsOf(attempt: ImageAttempt): AsyncGenerator<ImageEvent, void> {
  const { upstream, order, request: { kind } } = attempt;
  if (upstream.stream !== null && order.count <= upstream.mostPerCall) {
    return yield* upstream.stream(order, callOf(attempt), kind);
  }
  yield { type: "completed", outcome: await makeImages(upstream, kind, order, callOf(attempt)) };
}

function callOf({ link }: ImageAttempt) {
  return { callerSignal: () => link.signal };
}

function orderOf(request: ImageRequest, model: string, images: readonly ImageSource[]): ImageOrder {
  const { prompt, quality, count, size, mask, outputFormat, background, inputFidelity, partialImages } = request;
  return { model, prompt, quality, count, size, images, mask, outputFormat, background, inputFidelity, partialImages };
}

/** Nothing but a failure of the vendor is tried elsewhere: a picture that cannot be read cannot be read there either. */
function judge(error: unknown): Judgement {
  return error instanceof UpstreamFailure ? error : { isRetryable: false, isProvidersFault: false };
}
