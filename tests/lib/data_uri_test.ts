import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { bytesOfDataUri, isDataUri, readDataUri } from "../../src/platform/lib/media/data_uri.ts";

const WRITINGS: readonly ((base64: string) => string)[] = [
  (base64) => base64,
  (base64) => base64.replace(/.{76}/g, "$&\r\n"),
  (base64) => ` ${base64.replace(/.{4}/g, "$&\t")}\n`,
  (base64) => encodeURIComponent(base64),
  (base64) => base64.replace(/=+$/, ""),
  (base64) => base64.replaceAll("+", "-").replaceAll("/", "_"),
  (base64) => base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  (base64) => `${base64}#fragment`,
];

const HEADS = ["data:image/png;base64,", "DATA:IMAGE/PNG;BASE64,", 'data: image/png ; name="a b"; base64,'];

Deno.test("every writing of a data: URI has the same bytes and type", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
    const base64 = bytes.toBase64();
    for (const head of HEADS) {
      for (const write of WRITINGS) {
        const uri = head + write(base64);
        assertEquals(readDataUri(uri), { mediaType: "image/png", base64, isBase64: true }, uri);
        assertEquals(bytesOfDataUri(uri), new Uint8Array(bytes), uri);
      }
    }
    const escaped = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    assertEquals(bytesOfDataUri(`data:image/png,${escaped}`), new Uint8Array(bytes));
  }));
});

Deno.test("a data: URI without base64 is percent-decoded text", () => {
  const textOf = (uri: string) => new TextDecoder().decode(bytesOfDataUri(uri) ?? undefined);
  assertEquals(textOf("data:,Hello%2C%20World"), "Hello, World");
  assertEquals(textOf("data:text/plain;charset=utf-8,für 100% %zz#x"), "für 100% %zz");
  assertEquals(readDataUri("data:,x")?.mediaType, "text/plain");
  assertEquals(readDataUri("data:;base64,eA==")?.mediaType, "text/plain");
});

Deno.test("bytesOfDataUri() is null for what is malformed or empty", () => {
  for (
    const bad of [
      "data:,",
      "data:image/png;base64,",
      "data:image/png;base64,@@",
      "data:image/png;base64,a",
      "data:image/png;base64,ab=d",
      "data:image/png;base64,ab=",
      "data:image/png;base64,%C3%A9",
      "data:image/png",
      "data",
      "image/png;base64,AAAA",
    ]
  ) {
    assertEquals(bytesOfDataUri(bad), null, bad);
  }
  assertEquals([isDataUri("Data:,"), isDataUri("https://x/data:")], [true, false]);
});
