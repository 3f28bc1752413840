import * as z from "zod";
import type { JsonObject } from "../../lib/json_object.ts";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { type FailureKind, UpstreamFailure } from "../failure.ts";
import type { Outbound, VendorRefusal } from "../outbound.ts";
import { type VideoExchange, videoExchange } from "../video_exchange.ts";
import { failed, failedWith, finished, pending, pendingAs } from "../video_progress.ts";
import { shapeOf, type VideoShapes } from "../video_shape.ts";
import type {
  CancelOutcome,
  RefusedOptions,
  VideoJobHandle,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../video_upstream.ts";
import { endpointFor, type FalInputs } from "./inputs.ts";

/** fal's queue. Source: fal documentation, "Queue API" (submit, status, result, cancel) and "Errors". */

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"];

const text = z.string().nullish().catch(null);

const Created = z.object({ request_id: z.string().min(1), response_url: text });

const Status = z.object({
  status: z.string(),
  queue_position: z.int().nonnegative().nullish().catch(null),
  error: text,
  error_type: text,
});

const File = z.object({ url: text, duration: z.number().nonnegative().nullish().catch(null) });

const Result = z.object({
  video: File.or(z.string().transform((url) => ({ url, duration: null }))).nullish().catch(null),
  videos: z.array(File).nullish().catch(null),
  has_nsfw_concepts: z.array(z.boolean()).nullish().catch(null),
});

/** What models price beside their length. Source: fal, "Model API reference", the input schemas and prices of each. */
const UNPRICED = "it changes what the video costs, which the model's price does not tell";
const MEDIA = 'it is what the video is made from; use "frame_images" or "input_references"';

/** `num_frames` overrides `duration`; a length is also that of a video or sound to follow. */
const REFUSED_OPTIONS: RefusedOptions = {
  ...refusals(UNPRICED, [
    ...["acceleration", "priority", "draft", "draftmode", "interpolatormodel", "adjustfpsforinterpolation"],
    ...["loras", "voiceids", "voicelist", "endframenum", "startframenum", "extend", "extendduration", "autoduration"],
  ]),
  ...refusals(MEDIA, [
    ...["image", "imageurl", "imageurls", "images", "startimageurl", "endimageurl", "tailimageurl", "firstframeurl"],
    ...["lastframeurl", "firstimageurl", "lastimageurl", "referenceimageurl", "referenceimageurls", "referenceimages"],
    ...["subjectreferenceimageurl", "video", "videourl", "videourls", "referencevideourl", "referencevideourls"],
    ...["audiourl", "audiourls", "referenceaudiourl", "referenceaudiourls", "maskurl", "maskimageurl", "keyframes"],
  ]),
};

function refusals(why: string, names: readonly string[]): RefusedOptions {
  return Object.fromEntries(names.map((name) => [name, why]));
}

/** fal as a video upstream. It repeats nothing of ours by which a job could be found again. */
export function falVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readRefusal);
  return {
    mediaForms: { image: ["url", "data_uri"], audio: ["url", "data_uri"], video: ["url", "data_uri"] },
    async create(order) {
      const endpoint = endpointFor(order.model, order.mode);
      if (endpoint === null) throw outbound.failure("invalid", `"${order.model}" does not make ${order.mode}`);
      const body = bodyOf(outbound, order, endpoint.inputs);
      const created = await exchange.create(`/${endpoint.path}`, body, (answer) => Created.parse(answer));
      return { id: created.request_id, place: placeOf(outbound, created, endpoint.path) };
    },
    poll: (job) => progressOf(outbound, exchange, placeIn(job)),
    cancel: (job) => cancel(exchange, placeIn(job)),
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    dropped: droppedOf,
  };
}

/**
 * The path of a job. It stands below owner and app only, which fal tells by an address of its own: that is taken when it
 * leads to the provider's own host and to this job, and worked out otherwise.
 */
function placeOf(outbound: Outbound, created: z.infer<typeof Created>, endpoint: string): string {
  const ending = `/requests/${encodeURIComponent(created.request_id)}`;
  const named = created.response_url ? outbound.pathOf(created.response_url) : null;
  if (named?.endsWith(ending)) return named;
  return `/${endpoint.split("/").slice(0, 2).join("/")}${ending}`;
}

function placeIn({ id, place }: VideoJobHandle): string {
  if (place === null) throw new TypeError(`Cannot ask for fal's job "${id}": its place is missing`);
  return place;
}

function bodyOf(outbound: Outbound, order: VideoOrder, inputs: FalInputs): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, shapesOf(inputs));
  const { firstFrame, lastFrame, generateAudio } = order;
  const place = (field: string | undefined, value: string, what: string): JsonObject => {
    if (field !== undefined) return { [field]: value };
    throw outbound.failure("invalid", `"${order.model}" takes no ${what}`);
  };
  return {
    ...order.options,
    prompt: order.prompt,
    ...(order.durationSeconds !== null && inputs.duration && {
      duration: durationAs(inputs.duration, order.durationSeconds),
    }),
    ...(resolution !== null && inputs.resolutions && { resolution }),
    ...(ratio !== null && ratioOf(outbound, order, inputs, ratio)),
    ...(firstFrame !== null && place(inputs.firstFrame, firstFrame.value, "first frame")),
    ...(lastFrame !== null && place(inputs.lastFrame, lastFrame.value, "last frame")),
    ...referencesOf(outbound, order, inputs),
    ...(generateAudio !== null && inputs.sound && { [inputs.sound]: generateAudio }),
    ...(order.seed !== null && inputs.takesSeed && { seed: order.seed }),
  };
}

/** What a request cannot hold. Sound is there or not, as the model has it. */
function droppedOf({ model, mode, seed, generateAudio, durationSeconds }: VideoOrder): string[] {
  const inputs = endpointFor(model, mode)?.inputs;
  if (inputs === undefined) return [];
  return [
    ...(durationSeconds !== null && !inputs.duration ? ["duration"] : []),
    ...(generateAudio !== null && !inputs.sound ? ["generate_audio"] : []),
    ...(seed !== null && !inputs.takesSeed ? ["seed"] : []),
  ];
}

/** A frame decides the ratio where the model takes none beside it. */
function ratioOf(outbound: Outbound, { model, firstFrame }: VideoOrder, inputs: FalInputs, ratio: string): JsonObject {
  if (inputs.takesRatio) return { aspect_ratio: ratio };
  if (firstFrame !== null) return {};
  throw outbound.failure("invalid", `"${model}" takes no aspect ratio`, { field: "aspect_ratio" });
}

function shapesOf({ resolutions }: FalInputs): VideoShapes {
  const rows = Object.entries({ "480p": 480, "720p": 720, "1080p": 1_080, "2K": 1_440, "4K": 2_160 });
  const row = ([ours, shortSide]: [string, number]) =>
    [ours, { word: wordFor(ours, shortSide, resolutions), shortSide }] as const;
  return { resolutions: Object.fromEntries(rows.map(row)), ratios: RATIOS };
}

/** The model's own word, else that of its next larger resolution: `768P` for 720p. */
function wordFor(ours: string, shortSide: number, words: readonly string[] | undefined): string {
  const same = words?.find((word) => word.toLowerCase() === ours.toLowerCase());
  const larger = words?.filter((word) => pixelsOf(word) >= shortSide).sort((a, b) => pixelsOf(a) - pixelsOf(b))[0];
  return same ?? larger ?? ours.toLowerCase();
}

/** Of the short side: of `768P`, or of `4K`, which names the long one. */
function pixelsOf(word: string): number {
  const number = parseInt(word);
  return /k$/i.test(word) ? number * 540 : number;
}

function durationAs(form: NonNullable<FalInputs["duration"]>, seconds: number): number | string {
  if (form === "number") return seconds;
  return form === "text" ? String(seconds) : `${seconds}s`;
}

const MEDIA = [["image", "images"], ["video", "videos"], ["audio", "audios"]] as const;

function referencesOf(outbound: Outbound, { model, references }: VideoOrder, inputs: FalInputs): JsonObject {
  const lists = MEDIA.map(([medium, list]) => {
    const values = references.filter((media) => media.medium === medium).map(({ value }) => value);
    if (values.length === 0) return {};
    const field = inputs[list];
    if (field !== undefined) return { [field]: values };
    throw outbound.failure("invalid", `"${model}" takes no ${medium} references`, { field: "input_references" });
  });
  return Object.assign({}, ...lists) as JsonObject;
}

async function progressOf(outbound: Outbound, exchange: VideoExchange, place: string): Promise<VideoProgress> {
  const { status, queue_position, error, error_type } = await exchange.ask(
    `${place}/status`,
    (answer) => Status.parse(answer),
  );
  switch (status.toUpperCase()) {
    case "IN_QUEUE":
      return pending(false, { queuePosition: queue_position });
    case "IN_PROGRESS":
      return pending(true);
    case "COMPLETED":
      if (error) return failed(outbound, error, isRefusal(error_type ?? null));
      return await resultOf(outbound, exchange, place);
    default:
      return pendingAs(status);
  }
}

/** A queue that has completed says nothing of success: the result does, by its own status. */
async function resultOf(outbound: Outbound, exchange: VideoExchange, place: string): Promise<VideoProgress> {
  try {
    return await exchange.ask(place, (answer) => {
      const { video, videos, has_nsfw_concepts } = Result.parse(answer);
      const files = [video, ...videos ?? []];
      if (has_nsfw_concepts?.includes(true)) return failed(outbound, BLACKENED, true);
      const seconds = files.find((file) => file?.duration)?.duration ?? null;
      return finished(outbound, files.map((file) => file?.url), { seconds, costUsd: null });
    });
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFailure)) throw thrown;
    if (thrown.message.includes("still in progress")) return pending(true);
    if (isJobsOwn(thrown)) return failedWith(thrown);
    throw thrown;
  }
}

const BLACKENED = "The video was blackened by the vendor's content check";

/** Whether a failure is the job's result, and not one of asking for it, which can be asked again. */
function isJobsOwn({ kind, facts: { status } }: UpstreamFailure): boolean {
  return status === 500 || (kind === "invalid" && status !== null && status !== 404);
}

async function cancel(exchange: VideoExchange, place: string): Promise<CancelOutcome> {
  try {
    await exchange.tell("PUT", `${place}/cancel`);
    // What runs is asked to stop, and most of it does.
    return "requested";
  } catch (thrown) {
    const status = thrown instanceof UpstreamFailure ? thrown.facts.status : null;
    if (status === 400 || status === 404) return "gone";
    throw thrown;
  }
}

const Detail = z.object({ detail: z.array(z.object({ type: text })).nonempty() });

function readRefusal(body: unknown): VendorRefusal {
  const said = chat.upstream.readError(body);
  const code = Detail.safeParse(body).data?.detail[0].type ?? said.code;
  return { ...said, code, kind: kindOf(code, said.message), isContentRefusal: isRefusal(code) };
}

function isRefusal(code: string | null): boolean {
  return code === "content_policy_violation";
}

/** What the vendor's words mean where its status would mislead; else undefined. */
function kindOf(code: string | null, message: string): FailureKind | undefined {
  if (isRefusal(code)) return "invalid";
  // A 403 that has no code: our balance is used up.
  return /exhausted balance/i.test(message) ? "unavailable" : undefined;
}
