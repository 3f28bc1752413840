import type { JsonFields } from "../configuration/merge_patch.ts";
import type { ModelKind } from "./model_prices.ts";

/** The modes of a video model. Source: docs/api/videos.md. */
export const VIDEO_MODES = ["text2video", "img2video", "img2video_end", "imgref2video"] as const;
/** The resolutions of videos with a price of their own; `default` is that of all others. */
const VIDEO_PRICES = ["default", "480p", "720p", "1080p", "2K", "4K"] as const;
/** How images are made. Source: docs/api/images.md#series. */
export const IMAGE_SERIES = ["default", "reference", "multimodal"] as const;
/** Whether videos have sound. */
export const SOUNDS = ["never", "always", "switch"] as const;

/** What the form has of each kind besides prices, as it is typed. */
export interface SectionFields {
  readonly series: typeof IMAGE_SERIES[number];
  readonly editsImages: boolean;
  readonly modes: readonly (typeof VIDEO_MODES[number])[];
  readonly sound: typeof SOUNDS[number];
  /** USD for a second by resolution; with `_audio` that of a video with sound, if it differs. */
  readonly perSecond: Readonly<Record<string, string>>;
  /** Seconds: `4-15`, or `5, 10`; empty for any. */
  readonly lengths: string;
  /** Names with commas; empty for any. */
  readonly voices: string;
  readonly translates: boolean;
}

/** What a new form has. */
export const EMPTY_SECTION: SectionFields = {
  series: "default",
  editsImages: false,
  modes: ["text2video"],
  sound: "never",
  perSecond: {},
  lengths: "",
  voices: "",
  translates: false,
};

/** The section of a kind in a model. A text has none. */
export function sectionOf(kind: ModelKind, fields: SectionFields): JsonFields {
  if (kind === "text") return {};
  const { series, editsImages, voices, translates } = fields;
  const names = listIn(voices);
  const sections: Readonly<Partial<Record<ModelKind, JsonFields>>> = {
    image: { series, ...editsImages && series !== "multimodal" && { edits: true } },
    video: videoOf(fields),
    speech: names.length === 0 ? {} : { voices: names },
    transcription: translates ? { translates } : {},
  };
  return { [kind]: sections[kind] ?? {} };
}

/** The prices of seconds that a form has: with sound as a choice, those with sound are apart. */
export function secondPriceNames({ sound, perSecond }: Pick<SectionFields, "sound" | "perSecond">): string[] {
  return VIDEO_PRICES.flatMap((name) =>
    sound === "switch" && textOf(perSecond, name) !== "" ? [name, `${name}_audio`] : [name]
  );
}

function videoOf({ modes, sound, perSecond, lengths }: SectionFields): JsonFields {
  const duration = durationOf(lengths);
  return {
    modes,
    audio: sound,
    price_per_second: secondPricesOf(sound, perSecond),
    ...duration !== null && { duration },
  };
}

/** A price with sound that differs makes the other one that of silent videos. */
function secondPricesOf(sound: SectionFields["sound"], perSecond: SectionFields["perSecond"]): JsonFields {
  return Object.fromEntries(VIDEO_PRICES.flatMap((name) => {
    const [price, withSound] = [textOf(perSecond, name), textOf(perSecond, `${name}_audio`)];
    if (price === "") return [];
    if (sound !== "switch" || withSound === "") return [[name, price]];
    return [[`${name}_silent`, price], [`${name}_audio`, withSound]];
  }));
}

/** What is neither a range nor a list stays as it is, so that the gateway names the field. */
function durationOf(text: string): unknown {
  const plain = text.trim();
  if (plain === "") return null;
  const [, min, max] = /^(\d+)\s*[-–]\s*(\d+)$/.exec(plain) ?? [];
  if (min !== undefined && max !== undefined) return { min: Number(min), max: Number(max) };
  const each = listIn(plain);
  return each.every((part) => /^\d+$/.test(part)) ? { only: each.map(Number) } : { only: each };
}

function listIn(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}

function textOf(typed: SectionFields["perSecond"], name: string): string {
  return typed[name]?.trim() ?? "";
}
