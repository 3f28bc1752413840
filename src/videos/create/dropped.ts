import type { Candidate } from "../../routing/candidates.ts";
import type { VideoMedia, VideoOrder, VideoUpstream } from "../../upstreams/video_upstream.ts";
import type { FittedOrder, VideoModel } from "./order.ts";
import { orderAt } from "../request/provider_options.ts";
import type { SentReference } from "../request/references.ts";
import type { VideoRequest } from "../request/request.ts";
import type { ProviderOptions } from "../tasks/task.ts";

/** A create whose fields are compared with what vendors are told. */
export interface ToldOrder {
  /** The body, of which only fields that were sent can be dropped. */
  readonly body: { readonly [name: string]: unknown };
  readonly request: VideoRequest;
  readonly model: VideoModel;
  readonly fitted: FittedOrder;
  readonly options: ProviderOptions;
  /** Who may serve it. */
  readonly candidates: readonly Candidate[];
}

/**
 * The fields of a create that a provider which may serve it cannot be told, each once, as the caller wrote them. A
 * model that has sound always, or never, is not told `generate_audio`: the field is dropped where it asks for the
 * other.
 */
export function droppedFields(told: ToldOrder, upstreams: ReadonlyMap<string, VideoUpstream>): readonly string[] {
  const { request: { generateAudio }, model: { video: { audio } }, candidates } = told;
  const isUnheard = audio === "always" ? generateAudio === false : audio === "never" && generateAudio === true;
  const names = candidates.flatMap((each) => upstreams.get(each.provider)?.dropped?.(orderFor(told, each)) ?? []);
  const all = new Set([...names, ...isUnheard ? ["generate_audio"] : []]);
  return [...all].filter((name) => {
    const [field = name] = name.split(/[.[]/);
    const sent = told.body[field];
    return sent !== undefined && sent !== null;
  });
}

/** An order as the caller put it: without values of media, and with the caller's own word on sound. */
function orderFor({ request, fitted, options }: ToldOrder, { provider, model }: Candidate): VideoOrder {
  const { firstFrame, lastFrame, references, prompt, generateAudio } = request;
  const order = { ...fitted.order, firstFrame: null, lastFrame: null, references: [], optionsByProvider: options };
  return {
    ...orderAt(order, provider),
    taskId: "",
    model,
    mode: fitted.mode,
    prompt,
    generateAudio,
    firstFrame: firstFrame && outlineOf(firstFrame),
    lastFrame: lastFrame && outlineOf(lastFrame),
    references: references.map(outlineOf),
    callbackUrl: null,
  };
}

function outlineOf({ medium }: SentReference): VideoMedia {
  return { medium, mediaType: null, form: "url", value: "" };
}
