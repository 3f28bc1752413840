import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { expand, markExpressions } from "../../src/config/tree/expansion.ts";
import { configOf, environmentOf, problemsOf } from "./support.ts";

function expanded(text: string, values: Record<string, string> = {}) {
  const marked = markExpressions(text);
  return expand(marked.text, marked.expressions, environmentOf(values));
}

Deno.test("expand() puts in values, defaults and plain dollars", () => {
  const values = { A: "one", EMPTY: "" };
  assertEquals(expanded("${A}-${A}", values).text, "one-one");
  assertEquals(expanded("${B:-two}", values).text, "two");
  assertEquals(expanded("${EMPTY:-two}|${EMPTY}", values).text, "two|");
  assertEquals(expanded("${B:-}", values), { text: "", isPrivate: true, missing: [] });
  assertEquals(expanded("$${A} costs 5$ or $$5", values).text, "${A} costs 5$ or $5");
  assertEquals(expanded("$$${A}", values).text, "$one");
  assertEquals(expanded("plain", values), { text: "plain", isPrivate: false, missing: [] });
});

Deno.test("expand() names what is missing", () => {
  assertEquals(expanded("${B}${C}").missing, ["B", "C"]);
});

Deno.test("expand() never expands a value again", () => {
  fc.assert(fc.property(fc.string(), (value) => {
    assertEquals(expanded("<${A}>", { A: value, B: "again" }).text, `<${value}>`);
  }));
  assertEquals(expanded("${A}", { A: "${B}", B: "again" }).text, "${B}");
});

Deno.test("a value from the environment is never read as YAML", () => {
  const values = { KEY: 'x", kind: google, "y: [#', HOOK: "line: {a" };
  const config = configOf(
    "providers: { a: { kind: openai, base_url: http://a.example, headers: { x-a: ${KEY} } } }",
    values,
  );
  assertEquals(config.providers.a?.headers, { "x-a": values.KEY });
});

Deno.test("an expression in a comment is ignored", () => {
  assertEquals(problemsOf("# api_key: ${NOT_SET}\nstore: kv:a # ${NOR_THIS}"), []);
});

Deno.test("an expression is allowed in braces, brackets and quotes", () => {
  const values = { A: "one-0123456789abcdef", B: "two-0123456789abcdef" };
  const config = configOf("accounts: [{ id: a, keys: [${A}, '${B}'], webhook_secret: \"${A}${B:-x}\" }]", values);
  assertEquals(config.accounts[0]?.keys, [values.A, values.B]);
  assertEquals(config.accounts[0]?.webhookSecret, values.A + values.B);
});
