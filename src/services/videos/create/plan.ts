import { DEFAULT_IMAGE_TYPES } from "../../../platform/lib/media/media_type.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { LimitedCaller } from "../../../money/limits/limited_caller.ts";
import { FileReference } from "../../../platform/lib/media/sent_media.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { permittedCatalog } from "../../../vendors/catalog/permitted_catalog.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import { checkTarget } from "../../../platform/net/target.ts";
import { byWeight, type Candidate } from "../../../vendors/routing/candidates.ts";
import { resolvePin } from "../../../vendors/routing/pin.ts";
import { droppedFields } from "./dropped_fields.ts";
import type { StoredInputs } from "./inputs.ts";
import { formFor, isPublicBase } from "../request/media_publishing.ts";
import { fitOrder, type FittedOrder, type VideoModel, videoModel } from "./order.ts";
import { priceOf } from "./price.ts";
import type { ReferenceFiles } from "./reference_files.ts";
import { optionsByProvider } from "../request/provider_options.ts";
import { videoError } from "../tasks/video_errors.ts";
import { readVideoRequest, type VideoRequest } from "../request/request.ts";
import type { ProviderOptions, TaskMedia, TaskPrice } from "../tasks/task.ts";
import { vendorAssetsOf } from "./vendor_assets.ts";
import type { VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Most requests name no stored file. */
const referenceFilesModule = new Late(() => import("./reference_files.ts"));

/** A create request: the account and the body. */
export interface VideoCall {
  readonly keyId: string;
  readonly accountId: string;
  /** The limits of the key and its account. */
  readonly limits: LimitedCaller["limits"];
  /** When the request began, in Unix milliseconds. */
  readonly receivedAt: number;
  /** The JSON body. */
  readonly body: { readonly [key: string]: unknown };
  /** Limits the memory of media read for the video. Default: no limit. */
  readonly memory?: HeldMemory;
}

/** A create request that passed all checks except those of its media and of the balance. */
export interface VideoPlan {
  readonly request: VideoRequest;
  readonly model: VideoModel;
  /** The requested provider; null for any. */
  readonly pin: string | null;
  /** Candidates, the most likely first; at least one. */
  readonly candidates: readonly Candidate[];
  /** Addresses in a vendor's own store. */
  readonly assets: ReadonlySet<string>;
  /** The stored files that the references name; null if they name none. */
  readonly files: ReferenceFiles | null;
  readonly fitted: FittedOrder;
  readonly options: ProviderOptions;
  readonly price: TaskPrice;
  /** See {@linkcode droppedFields}. */
  readonly dropped: readonly string[];
}

/**
 * Plans a create request and makes every check that does not need the media.
 *
 * @throws {GatewayError} As listed in docs/api/videos.md#create.
 */
export async function planVideo(parts: VideoParts, call: VideoCall): Promise<VideoPlan> {
  const { body, keyId, accountId, limits, receivedAt } = call;
  const request = readVideoRequest(body);
  const model = videoModel(permittedCatalog(parts.catalog.at(receivedAt), limits), request.model);
  const namedPin = resolvePin(null, request.pin, model.id, model.serves, parts.isProvider);
  const { pin, urls: assets } = vendorAssetsOf(parts, request, model, namedPin);
  const fitted = fitOrder(request, model);
  const options = ownOptions(parts, request, model, pin);
  refusePromptOptions(parts, request.prompt, model, pin);
  await refuseCallback(parts, request.callbackUrl);
  const files = await findFiles(parts, keyId, request);
  const candidates = candidatesOf(parts, model, pin, accountId);
  const price = priceOf(model, fitted, parts.settings.preauthorize);
  const dropped = droppedFields({ body, request, model, fitted, options, candidates }, parts.upstreams);
  refuseUnsupportedPrice(request, model, price, dropped);
  return { request, model, pin, candidates, assets, files, fitted, options, price, dropped };
}

async function findFiles(
  { stored }: VideoParts,
  keyId: string,
  request: VideoRequest,
): Promise<ReferenceFiles | null> {
  const sent = [request.firstFrame, request.lastFrame, ...request.references];
  if (!sent.some((each) => each?.url instanceof FileReference)) return null;
  const { ReferenceFiles } = await referenceFilesModule.load();
  return await ReferenceFiles.find(stored, keyId, sent);
}

/** Throws if no candidate supports the form of every reference. */
export function refuseUnreachable(
  parts: VideoParts,
  { request, model, pin }: Pick<VideoPlan, "request" | "model" | "pin">,
  { media }: StoredInputs,
): void {
  const upstreams = ableOf(parts, model, pin).map(({ provider }) => parts.upstreams.get(provider)!);
  const all = [media.firstFrame, media.lastFrame, ...media.references].filter((each): each is TaskMedia =>
    each !== null
  );
  if (all.length === 0) return;
  const isPublic = isPublicBase(parts);
  const unsupported = upstreams.map(({ mediaForms }) =>
    all.find((each) => formFor(each, mediaForms, isPublic) === null)
  );
  const [first] = unsupported;
  if (first === undefined || unsupported.includes(undefined)) return;
  refuseImageType(first, all.indexOf(first), request, upstreams);
  const how = first.at === "file" ? "as a URL, because the provider does not accept data URIs" : "as a data: URI";
  throw new GatewayError(
    "invalid_request",
    `Cannot send a reference of type ${first.medium}_url: expected it ${how}`,
  );
}

/** Throws with the reason code and the position if no candidate takes images of this type. */
function refuseImageType(
  media: TaskMedia,
  index: number,
  { firstFrame, lastFrame, references }: VideoRequest,
  upstreams: readonly VideoUpstream[],
): void {
  if (media.medium !== "image" || media.at !== "file") return;
  const types = new Set(upstreams.flatMap(({ mediaForms }) => mediaForms.imageTypes ?? DEFAULT_IMAGE_TYPES));
  if (types.has(media.mediaType)) return;
  const { field } = elementAt([firstFrame, lastFrame, ...references].filter((each) => each !== null), index);
  throw new GatewayError(
    "invalid_request",
    `Cannot send the reference image, which is ${media.mediaType}; the providers of the model take ` +
      `${[...types].join(", ")}: not_image at ${field}`,
    { field },
  );
}

function ownOptions(
  { isProvider, upstreams }: VideoParts,
  { options }: VideoRequest,
  { id, serves }: VideoModel,
  pin: string | null,
): ProviderOptions {
  const serving = serves.map(({ provider }) => provider);
  return optionsByProvider(options, { model: id, serving, pin, isProvider, upstreams });
}

/** Throws if a candidate would read options from the prompt, because they would not be part of the price. */
function refusePromptOptions({ upstreams }: VideoParts, prompt: string, model: VideoModel, pin: string | null): void {
  for (const { provider, model: name } of model.serves) {
    const option = (pin ?? provider) === provider ? upstreams.get(provider)?.optionInPrompt?.(prompt, name) : null;
    if (!option) continue;
    throw invalidField("prompt", `"${option}" is read as an option by the provider; use the request field instead`);
  }
}

async function refuseCallback({ egress, isTestReceiver }: VideoParts, url: string | null): Promise<void> {
  if (url === null || isTestReceiver?.(url)) return;
  try {
    await checkTarget(url, ["https:"], egress);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw videoError("invalid_callback_url", `Cannot use "callback_url": ${error.message}`, "callback_url");
  }
}

/** Fields that determine the price, and their names in a parsed request. */
const PRICED_FIELDS: ReadonlyMap<string, keyof VideoRequest> = new Map([
  ["duration", "durationSeconds"],
  ["resolution", "resolution"],
  ["size", "size"],
  ["generate_audio", "generateAudio"],
]);

/** Throws if a field that a candidate does not support changes the price of the video. */
function refuseUnsupportedPrice(
  request: VideoRequest,
  model: VideoModel,
  price: TaskPrice,
  dropped: readonly string[],
): void {
  for (const field of dropped) {
    const name = PRICED_FIELDS.get(field);
    if (name === undefined) continue;
    if (priceOf(model, fitOrder({ ...request, [name]: null }, model), price.held).estimate === price.estimate) continue;
    const expected = "it changes the price, and not every provider of the model supports it; " +
      'omit it, or select a provider with "provider.type"';
    throw invalidField(field, expected);
  }
}

/**
 * Returns the candidates of a request. Throws `upstream_auth_failed` if every candidate rejects the gateway's
 * credential.
 */
function candidatesOf(
  parts: VideoParts,
  model: VideoModel,
  pin: string | null,
  accountId: string,
): readonly Candidate[] {
  const able = ableOf(parts, model, pin);
  if (able.length === 0) {
    throw new GatewayError("route_error", `No provider generates videos with "${model.id}"`, { isFinal: true });
  }
  return byWeight(able, { breaker: parts.breaker, accountId }, pin);
}

function ableOf({ upstreams }: VideoParts, { serves }: VideoModel, pin: string | null): readonly Candidate[] {
  return serves.filter(({ provider }) => upstreams.has(provider) && (pin ?? provider) === provider);
}
