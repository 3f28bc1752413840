import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { VideoMedia, VideoOrder, VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { FittedOrder, VideoModel } from "./order.ts";
import { orderForProvider } from "../request/provider_options.ts";
import type { SentReference } from "../request/references.ts";
import { VIDEO_FIELDS, type VideoRequest } from "../request/request.ts";
import type { ProviderOptions } from "../tasks/task.ts";

/** A create request whose fields are compared with what vendors support. */
export interface CreateWithCandidates {
  /** The body; only fields that were sent can be dropped. */
  readonly body: { readonly [name: string]: unknown };
  readonly request: VideoRequest;
  readonly model: VideoModel;
  readonly fitted: FittedOrder;
  readonly options: ProviderOptions;
  /** Candidates that may serve the request. */
  readonly candidates: readonly Candidate[];
}

/**
 * Returns the fields of a create request that at least one candidate does not support, without duplicates, by the
 * caller's names, and fields that no video has. `generate_audio` is dropped if the model always or never has sound and
 * the field requests the opposite.
 */
export function droppedFields(
  create: CreateWithCandidates,
  upstreams: ReadonlyMap<string, VideoUpstream>,
): readonly string[] {
  const { request: { generateAudio }, model: { video: { audio } }, candidates } = create;
  const isAudioDropped = audio === "always" ? generateAudio === false : audio === "never" && generateAudio === true;
  const names = candidates.flatMap((each) =>
    upstreams.get(each.provider)?.droppedFields?.(orderFor(create, each)) ?? []
  );
  const unknown = Object.keys(create.body).filter((name) => !VIDEO_FIELDS.has(name));
  const all = new Set([...names, ...isAudioDropped ? ["generate_audio"] : [], ...unknown]);
  return [...all].filter((name) => {
    const [field = name] = name.split(/[.[]/);
    const sent = create.body[field];
    return sent !== undefined && sent !== null;
  });
}

/** Returns the order with the caller's own value for sound and placeholders for media. */
function orderFor({ request, fitted, options }: CreateWithCandidates, { provider, model }: Candidate): VideoOrder {
  const { firstFrame, lastFrame, references, prompt, generateAudio } = request;
  const order = { ...fitted.order, firstFrame: null, lastFrame: null, references: [], optionsByProvider: options };
  return {
    ...orderForProvider(order, provider),
    taskId: "",
    model,
    mode: fitted.mode,
    prompt,
    generateAudio,
    firstFrame: firstFrame && placeholderOf(firstFrame),
    lastFrame: lastFrame && placeholderOf(lastFrame),
    references: references.map(placeholderOf),
    callbackUrl: null,
  };
}

function placeholderOf({ medium }: SentReference): VideoMedia {
  return { medium, mediaType: null, form: "url", value: "" };
}
