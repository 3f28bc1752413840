import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type FormLimits, readForm } from "../../src/platform/http/bodies/multipart.ts";
import { boundaryOf, readPartHead } from "../../src/platform/http/bodies/multipart_head.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";

interface ReadPart {
  readonly name: string;
  readonly isFile: boolean;
  readonly content: string;
}

const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const text = (bytes: Uint8Array) => String.fromCharCode(...bytes);

async function* cut(
  bytes: Uint8Array<ArrayBuffer>,
  points: readonly number[],
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let from = 0;
  for (const point of [...points, bytes.length]) {
    if (point > from) yield bytes.slice(from, point);
    from = Math.max(from, point);
  }
}

async function partsOf(body: string, points: readonly number[] = [], limits?: FormLimits): Promise<ReadPart[]> {
  const parts: ReadPart[] = [];
  let open: { name: string; isFile: boolean; content: string } | null = null;
  for await (const event of readForm(cut(latin1(body), points), "B", limits)) {
    if (event.type === "head") open = { name: event.head.name, isFile: event.head.isFile, content: "" };
    else if (event.type === "data") open!.content += text(event.bytes);
    else parts.push(open!);
  }
  return parts;
}

const field = (name: string, content: string) =>
  `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const file = (name: string, content: string) =>
  `--B\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\nContent-Type: image/png\r\n\r\n${content}\r\n`;
const END = "--B--\r\n";

async function refusal(body: string, limits?: FormLimits): Promise<string> {
  return (await assertRejects(() => partsOf(body, [], limits), GatewayError)).message;
}

Deno.test("a form reads the same wherever its bytes are split", async () => {
  const body = `preamble\r\n${field("a", "1")}${file("image", "\r\n--\r\n--C\r\n\r")}${
    field("", "")
  }${END}epilogue --B`;
  const whole = await partsOf(body);
  assertEquals(whole, [
    { name: "a", isFile: false, content: "1" },
    { name: "image", isFile: true, content: "\r\n--\r\n--C\r\n\r" },
    { name: "", isFile: false, content: "" },
  ]);
  for (let at = 0; at <= body.length; at++) assertEquals(await partsOf(body, [at]), whole, `cut at ${at}`);
  assertEquals(await partsOf(body, Array.from(body, (_, at) => at)), whole);
});

Deno.test("a form reader returns what was written, for any content and any splits", async () => {
  const alphabet = fc.constantFrom("\r", "\n", "-", "B", "--B", "\r\n", "\r\n-", "\r\n--", "\r\n--b", "\0", "\xff");
  const content = fc.array(alphabet, { maxLength: 30 }).map((pieces) => pieces.join(""))
    .filter((made) => !`\r\n${made}\r\n`.includes("\r\n--B"));
  const forms = fc.array(content, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(forms, fc.array(fc.nat(400), { maxLength: 12 }), async (contents, cuts) => {
      const body = contents.map((each) => file("f", each)).join("") + END;
      const points = cuts.map((point) => point % body.length).sort((a, b) => a - b);
      assertEquals((await partsOf(body, points)).map((part) => part.content), contents);
    }),
    { numRuns: 200 },
  );
});

Deno.test("a form that ends before its last boundary is rejected wherever it ends", async () => {
  const body = `${field("a", "1")}${file("image", "xy")}--B--`;
  for (let length = 0; length < body.length; length++) {
    assertEquals(
      await refusal(body.slice(0, length)),
      "Cannot read the form: the body ends before its last boundary",
      `cut at ${length}`,
    );
  }
  assertEquals((await partsOf(body)).length, 2);
});

Deno.test("a form is rejected at its sixty-fifth part and at a part head above 8 KB", async () => {
  assertEquals((await partsOf(field("a", "1").repeat(64) + END)).length, 64);
  assertEquals(await refusal(field("a", "1").repeat(65) + END), "Cannot read the form: expected at most 64 parts");
  const headOf = (length: number) => {
    const disposition = 'Content-Disposition: form-data; name="a"\r\n';
    return `--B\r\n${disposition}x: ${"y".repeat(length - disposition.length - 3)}\r\n\r\n1\r\n${END}`;
  };
  assertEquals((await partsOf(headOf(8192))).length, 1);
  assertEquals(
    await refusal(headOf(8193)),
    "Cannot read a part of the form: expected at most 8192 characters before its content",
  );
  // Also before the end of the head has arrived.
  assertEquals(
    await refusal(`--B\r\nx: ${"y".repeat(1_000_000)}`),
    "Cannot read the form: expected at most 8192 bytes before a part's content",
  );
});

Deno.test("a form accepts an upload with any file name", async () => {
  for (const name of ["../../etc/passwd", "a\0b", "x".repeat(10_000), ""]) {
    const body = file("image", "1").replace('filename="x"', `filename="${name}"`) + END;
    assertEquals(await partsOf(body), [{ name: "image", isFile: true, content: "1" }]);
  }
});

Deno.test("a form is rejected when a boundary line has text after the boundary", async () => {
  assertEquals((await partsOf(`--B \t\r\n${field("a", "1").slice(5)}${END}`)).length, 1);
  for (const junk of ["x", " x", " ".repeat(65), "-x"]) {
    assertEquals(
      await refusal(`--B${junk}\r\n${field("a", "1").slice(5)}${END}`),
      "Cannot read the form: expected a line end after a boundary",
    );
  }
});

Deno.test("readPartHead() recognises uploads by a file name or a type, and drops folders of the name", () => {
  const head = (...lines: string[]) => readPartHead(lines.join("\r\n"));
  assertEquals(head('Content-Disposition: form-data; name="image[]"; filename="../../etc/passwd"'), {
    name: "image[]",
    isFile: true,
    fileName: "passwd",
  });
  assertEquals(head("content-disposition:form-data;name=image; filename*=UTF-8''%c3%a4.png; filename=_.png"), {
    name: "image",
    isFile: true,
    fileName: "ä.png",
  });
  assertEquals(head('Content-Disposition: FORM-DATA; name="a\\"b"; filename="C:\\x\\"'.replace('x\\"', 'x"')), {
    name: 'a"b',
    isFile: true,
    fileName: "x",
  });
  const disposition = 'Content-Disposition: form-data; name="a"';
  assertEquals(head(disposition).isFile, false);
  assertEquals(head(disposition, "Content-Type: text/plain; charset=utf-8").isFile, false);
  assertEquals(head(disposition, "Content-Type: image/png").isFile, true);
  assertEquals(head(disposition, "Content-Transfer-Encoding: binary").isFile, false);
});

Deno.test("readPartHead() rejects heads that two parsers could read differently", () => {
  const disposition = 'Content-Disposition: form-data; name="a"';
  const heads = [
    "",
    "Content-Type: text/plain",
    "Content-Disposition: attachment; name=a",
    "Content-Disposition: form-data",
    "Content-Disposition: form-data; name=a; name=b",
    'Content-Disposition: form-data; name="a',
    `${disposition}\r\n${disposition}`,
    `${disposition}\r\n folded`,
    `${disposition}\r\nno colon`,
    `${disposition}\r\nContent-Transfer-Encoding: base64`,
  ];
  for (const head of heads) assertThrows(() => readPartHead(head), GatewayError, "Cannot read a part of the form");
});

Deno.test("boundaryOf() accepts 1 to 70 characters, quoted or not, and only multipart/form-data", () => {
  assertEquals(boundaryOf("multipart/form-data; boundary=abc"), "abc");
  assertEquals(boundaryOf('Multipart/Form-Data;charset=utf-8; Boundary="a b:c"'), "a b:c");
  assertEquals(boundaryOf(`multipart/form-data; boundary=${"x".repeat(70)}`).length, 70);
  const bad = ["", "; boundary=", '; boundary="', "; boundary=a; boundary=b", '; boundary="a "', "; boundary=é"];
  for (const parameters of [...bad, `; boundary=${"x".repeat(71)}`]) {
    const error = assertThrows(() => boundaryOf(`multipart/form-data${parameters}`), GatewayError);
    assertEquals(error.status, 400, parameters);
  }
  for (const type of [null, "", "application/json", "multipart/mixed; boundary=a"]) {
    assertEquals(assertThrows(() => boundaryOf(type), GatewayError).status, 415);
  }
});
