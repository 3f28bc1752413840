import type { SeededRandom } from "../money_walk/random.ts";

/** Price of a second of each video. */
export const SECOND_PRICE = "0.1";

/** A model under load and the properties of its vendor. */
export interface LoadedModel {
  readonly id: string;
  readonly provider: string;
  readonly upstreamModel: string;
  /** Whether the vendor finds a job by the gateway's reference. */
  readonly isSearchable: boolean;
}

/** Vendors that can be searched by a mark, by the gateway's id, and not at all. */
export const MODELS: readonly LoadedModel[] = [
  { id: "load/ark", provider: "ark", upstreamModel: "seedance-sandbox", isSearchable: true },
  { id: "load/kling", provider: "kling", upstreamModel: "kling-sandbox", isSearchable: true },
  {
    id: "load/fal",
    provider: "fal",
    upstreamModel: "fal-ai/bytedance/seedance/v1.5/pro",
    isSearchable: false,
  },
  { id: "load/openrouter", provider: "openrouter", upstreamModel: "seedance-sandbox", isSearchable: false },
];

/** A video to create. */
export interface VideoOrder {
  /** Part of its prompt and metadata, which identifies the vendor's requests and the tasks. */
  readonly number: number;
  readonly model: LoadedModel;
  /** Null to create it without a key. */
  readonly idempotencyKey: string | null;
  /** Number of rejections before the create succeeds. */
  readonly failures: number;
  /** Whether every create is rejected. */
  readonly isRejected: boolean;
  readonly body: string;
}

const IMAGE = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const ENDS = ["", "", "", "", "", "[[refuse]]", "[[expire]]", "[[noresult]]", "[[failure]]", "[[reject]]"];
const TROUBLES = ["", "", "", "[[cut]]", "[[stall 300]]", "[[stall 900]]", "[[slow 400]]", "[[slow 1500]]"];

/** Returns a video with random vendor, duration, progress and end. */
export function orderOf(number: number, random: SeededRandom, callbackUrl: string): VideoOrder {
  const model = random.pick(MODELS);
  const failures = random.chance(0.15) ? random.between(1, 2) : 0;
  const end = random.pick(ENDS);
  const course = [
    `[[queue ${random.pick([0, 0, 200, 800])}]]`,
    `[[run ${random.pick([0, 100, 600, 1_500])}]]`,
    failures > 0 ? `[[fail ${random.pick([429, 503])} ${failures}]]` : "",
    random.pick(TROUBLES),
    end,
  ];
  const prompt = `Video ${number} ${course.join(" ")}`;
  const hasFrame = model.provider === "ark" && random.chance(0.3);
  const frame = { frame_images: [{ type: "image_url", image_url: { url: IMAGE }, frame_type: "first_frame" }] };
  return {
    number,
    model,
    idempotencyKey: random.chance(0.6) ? `order-${number}` : null,
    failures,
    isRejected: end === "[[reject]]",
    body: JSON.stringify({
      model: model.id,
      prompt,
      duration: random.between(2, 9),
      metadata: { number: String(number) },
      ...(hasFrame && frame),
      ...(random.chance(0.7) && { callback_url: callbackUrl }),
    }),
  };
}

/** Returns the order number of a vendor's request; null if there is none. */
export function numberIn(body: unknown): number | null {
  const number = /Video (-?\d+) \[\[/.exec(JSON.stringify(body ?? null))?.[1];
  return number === undefined ? null : Number(number);
}
