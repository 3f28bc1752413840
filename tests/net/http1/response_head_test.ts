import { assertEquals } from "@std/assert";
import { ResponseHead } from "../../../src/platform/net/http1/response_head.ts";

Deno.test("ResponseHead finds fields in any case, in order, and no name within another name or a value", () => {
  const head = new ResponseHead(
    "HTTP/1.1 200 length:1\r\nX-Length:2\r\nNote: length:3\r\nLENGTH: \tFour \r\nLength-X:5\r\nlength:\r\n\r\n",
  );
  assertEquals(head.get("length"), "Four");
  assertEquals(head.all("length"), ["Four", ""]);
  assertEquals(head.get("x-length"), "2");
  assertEquals(head.get("leng"), null);
  assertEquals(head.all("five"), []);
});

Deno.test("ResponseHead finds a field after Latin-1 text", () => {
  const head = new ResponseHead("HTTP/1.1 200 \xc0\xdf\r\nNote: \xb5\xff\r\nCity: Z\xdcRICH\r\n\r\n");
  assertEquals([head.get("note"), head.get("city")], ["\xb5\xff", "Z\xdcRICH"]);
});
