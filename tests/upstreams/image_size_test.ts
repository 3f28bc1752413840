import { assertEquals } from "@std/assert";
import { nearestRatio, pixelsOf } from "../../src/upstreams/image_size.ts";

Deno.test("pixelsOf() reads sizes and nothing else", () => {
  assertEquals(pixelsOf("1536x1024"), { width: 1536, height: 1024 });
  for (const size of [null, "auto", "", "0x5", "1024", "1024X1024", "1x1x1", "999999x1"]) {
    assertEquals(pixelsOf(size), null, String(size));
  }
});

Deno.test("nearestRatio() measures by factors, so that lying and standing ratios are treated alike", () => {
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
    ]
  ) assertEquals(nearestRatio(pixelsOf(size)!, ratios), ratio, size);
});
