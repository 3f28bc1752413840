import { assertEquals } from "@std/assert";
import type { MediaForms, VideoMedia } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { formFor, isPublicBase } from "../../src/services/videos/request/media_publishing.ts";
import type { TaskMedia } from "../../src/services/videos/tasks/task.ts";

const address: TaskMedia = { medium: "image", at: "url", url: "https://example.com/a.png" };
const file = (bytes: number): TaskMedia => ({
  medium: "image",
  at: "file",
  name: "a-in-0.png",
  mediaType: "image/png",
  bytes,
});
const takes = (...image: VideoMedia["form"][]): MediaForms => ({ image, audio: [], video: [] });

type Case = readonly [
  what: string,
  media: TaskMedia,
  forms: MediaForms,
  isPublic: boolean,
  form: VideoMedia["form"] | null,
];

const CASES: readonly Case[] = [
  ["an address where addresses are taken", address, takes("url", "data_uri"), false, "url"],
  ["an address where only bytes are taken", address, takes("base64"), false, "base64"],
  ["an address where nothing is taken", address, takes(), true, null],
  ["a file where both are taken", file(1_000), takes("url", "data_uri"), true, "data_uri"],
  ["a large file where both are taken", file(40_000_000), takes("url", "data_uri"), true, "url"],
  ["a large file that nobody outside could fetch", file(40_000_000), takes("url", "base64"), false, "base64"],
  ["a file where only addresses are taken", file(1_000), takes("url"), true, "url"],
  ["a file that nobody outside could fetch", file(1_000), takes("url"), false, null],
];

for (const [what, media, forms, isPublic, form] of CASES) {
  Deno.test(`formFor() returns ${form} for ${what}`, () => assertEquals(formFor(media, forms, isPublic), form));
}

Deno.test("isPublicBase() is true only for https at a public name or address", () => {
  const of = (base: string) => isPublicBase({ baseUrl: () => base, egress: { allow: [], own: [] } });
  assertEquals(
    [of("https://gateway.example.com"), of("https://gateway.example.com:8443/base"), of("https://8.8.8.8")],
    [
      true,
      true,
      true,
    ],
  );
  for (
    const base of ["http://gateway.example.com", "https://localhost", "https://10.0.0.1", "http://127.0.0.1:8787", ""]
  ) {
    assertEquals(of(base), false, base);
  }
});
