import { assertEquals } from "@std/assert";
import {
  nearestRatio,
  pixelsOf,
  withinArea,
  withinSide,
} from "../../src/vendors/upstreams/shared/images/image_size.ts";

Deno.test("pixelsOf() parses sizes and returns null for other text", () => {
  assertEquals(pixelsOf("1536x1024"), { width: 1536, height: 1024 });
  for (const size of [null, "auto", "", "0x5", "1024", "1024X1024", "1x1x1", "999999x1"]) {
    assertEquals(pixelsOf(size), null, String(size));
  }
});

Deno.test("nearestRatio() measures distances logarithmically, so that landscape and portrait are equal", () => {
  const ratios = ["1:1", "3:2", "2:3", "19.5:9", "9:19.5"];
  for (
    const [size, ratio] of [
      ["1024x1024", "1:1"],
      ["1100x1000", "1:1"],
      ["1000x1100", "1:1"],
      ["1792x1024", "3:2"],
      ["1024x1792", "2:3"],
      ["4000x1000", "19.5:9"],
      ["1000x4000", "9:19.5"],
    ] as const
  ) assertEquals(nearestRatio(pixelsOf(size)!, ratios), ratio, size);
});

Deno.test("withinArea() and withinSide() keep the shape, never enlarge, and round down to the grain", () => {
  assertEquals(withinArea({ width: 4000, height: 3000 }, 2_097_152, 32), { width: 1664, height: 1248 });
  assertEquals(withinArea({ width: 1000, height: 700 }, 2_097_152, 32), { width: 992, height: 672 });
  assertEquals(withinArea({ width: 90_000, height: 9 }, 2_097_152, 32), { width: 90_000 - 90_000 % 32, height: 32 });
  assertEquals(withinSide({ width: 1792, height: 1024 }, 1_440, 32), { width: 1440, height: 800 });
  assertEquals(withinSide({ width: 100, height: 64 }, 1_440, 32), { width: 96, height: 64 });
});
