import { assertEquals, assertThrows } from "@std/assert";
import * as z from "zod";
import {
  DEFAULT_IMAGE_FORMATS,
  DEFAULT_IMAGE_QUALITIES,
  IMAGE_SIZES,
  pricePerSecondOf,
  type VideoSection,
} from "../../src/vendors/catalog/sections/media_sections.ts";
import { modelOf } from "./support.ts";

function videoOf(fields: Record<string, unknown>): VideoSection {
  const video = { modes: ["text2video"], price_per_second: { "720p": "0.10", "1080p": "0.30" }, ...fields };
  return modelOf({ id: "a/b", video }).video!;
}

function pathsOf(fields: Record<string, unknown>): string[] {
  const error = assertThrows(() => videoOf(fields), z.ZodError) as z.ZodError;
  return error.issues.map(({ path }) => path.slice(1).join("."));
}

Deno.test("a video section takes its resolutions from its prices, with 720p first", () => {
  const video = videoOf({});
  assertEquals(video.resolutions, ["720p", "1080p"]);
  assertEquals(video.defaultResolution, "720p");
  assertEquals(video.duration, {
    leastSeconds: 1,
    mostSeconds: 60,
    onlySeconds: null,
    defaultSeconds: 5,
    isOpen: false,
  });
  assertEquals(video.audio, "never");
  assertEquals(videoOf({ price_per_second: { "4K": "1", "480p_silent": "1" } }).resolutions, ["480p", "4K"]);
  assertEquals(videoOf({ price_per_second: { default: "1" } }).resolutions.length, 6);
  assertEquals(videoOf({ duration: { min: 6, max: 10 } }).duration.defaultSeconds, 6);
  assertEquals(videoOf({ duration: { only: [8, 4, 6] } }).duration, {
    leastSeconds: 4,
    mostSeconds: 8,
    onlySeconds: [4, 6, 8],
    defaultSeconds: 6,
    isOpen: false,
  });
  assertEquals(videoOf({ duration: { only: [2, 4] } }).duration.defaultSeconds, 4);
});

Deno.test("secondPriceOf() falls back from resolution and sound to the default price", () => {
  const video = videoOf({
    audio: "switch",
    resolutions: ["480p", "720p", "1080p"],
    price_per_second: { "720p_audio": "4", "720p": "3", "1080p": "5", default_audio: "2", default: "1" },
  });
  assertEquals([true, false].map((audio) => pricePerSecondOf(video, "720p", audio)), ["4", "3"]);
  assertEquals([true, false].map((audio) => pricePerSecondOf(video, "1080p", audio)), ["5", "5"]);
  assertEquals([true, false].map((audio) => pricePerSecondOf(video, "480p", audio)), ["2", "1"]);
});

Deno.test("a video section is rejected when a setting it offers has no price", () => {
  assertEquals(pathsOf({ price_per_second: {} }), ["price_per_second"]);
  assertEquals(pathsOf({ resolutions: ["720p", "4K"] }), ["price_per_second"]);
  assertEquals(pathsOf({ audio: "switch", price_per_second: { "720p_audio": "1" } }), ["price_per_second"]);
  assertEquals(pathsOf({ price_per_second: { "720p": "free" } }), ["price_per_second.720p"]);
  assertEquals(pathsOf({ price_per_second: { "721p": "1" } }), ["price_per_second.721p"]);
  assertEquals(pathsOf({ default_resolution: "4K" }), ["default_resolution"]);
  assertEquals(pathsOf({ modes: [] }), ["modes"]);
  assertEquals(pathsOf({ modes: ["text2video", "text2video"] }), ["modes"]);
  assertEquals(pathsOf({ duration: { min: 8, max: 4 } }), ["duration.min"]);
  assertEquals(pathsOf({ duration: { min: 8, only: [8] } }), ["duration.only"]);
  assertEquals(pathsOf({ duration: { only: [4, 4] } }), ["duration.only"]);
  assertEquals(pathsOf({ duration: { only: [4, 8], default: 6 } }), ["duration.default"]);
  assertEquals(pathsOf({ duration: { min: 4, max: 8, default: 9 } }), ["duration.default"]);
});

Deno.test("the multimodal image series accepts no edits", () => {
  assertThrows(() => modelOf({ id: "a/b", image: { series: "multimodal", edits: true } }), z.ZodError);
  assertEquals(modelOf({ id: "a/b", image: { edits: true, input_fidelity: ["low", "high"] } }).image, {
    series: "default",
    edits: true,
    inputFidelity: ["low", "high"],
    sizes: [...IMAGE_SIZES],
    qualities: [...DEFAULT_IMAGE_QUALITIES],
    outputFormats: [...DEFAULT_IMAGE_FORMATS],
    svgAuthor: null,
    sizeMap: {},
    qualityMap: {},
  });
});

Deno.test("an image section limits sizes and qualities and maps those that its vendor has retired", () => {
  const image = modelOf({
    id: "a/b",
    image: {
      sizes: ["auto", "1024x1024"],
      qualities: ["low", "high"],
      size_map: { "1792x1024": "2560x1440" },
      quality_map: { hd: "high" },
    },
  }).image!;
  assertEquals([image.sizes, image.qualities], [["auto", "1024x1024"], ["low", "high"]]);
  assertEquals([image.sizeMap, image.qualityMap], [{ "1792x1024": "2560x1440" }, { hd: "high" }]);
});

Deno.test("an image section is rejected for sizes and qualities that the API does not have", () => {
  const wrong = [
    { sizes: ["1000x1000"] },
    { sizes: [] },
    { qualities: ["ultra"] },
    { size_map: { "1000x1000": "1024x1024" } },
    { size_map: { "1024x1024": "large" } },
    { quality_map: { ultra: "high" } },
  ];
  for (const image of wrong) assertThrows(() => modelOf({ id: "a/b", image }), z.ZodError);
});
