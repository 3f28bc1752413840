import { assert, assertEquals } from "@std/assert";
import { filesOf, ROOT } from "../../architecture/source_files.ts";

const CLIENT = "src/console/client";
/** The texts themselves, and the programs that are shown. */
const EXEMPT = /\/texts\.ts$|\/snippets\//;
/** Attributes that are shown or read out. */
const SHOWN = new Set(["title", "alt", "placeholder", "label", "aria-label", "aria-description", "submit", "name"]);
/** Tags of HTML, whose `name` is that of a field. */
const isTag = (name: string) => /^[a-z]/.test(name);
const hasWord = (text: string) => /\p{L}{2}/u.test(text);
const isSentence = (text: string) => /^\s*\p{Lu}\p{Ll}* \p{Ll}/u.test(text);

/** Finds texts for people: what components show, and what looks like a sentence. */
const TEXT_RULE: Deno.lint.Plugin = {
  name: "texts",
  rules: {
    literal: {
      create: (context) => ({
        JSXText(node) {
          if (hasWord(node.value)) context.report({ node, message: node.value.trim() });
        },
        "JSXElement > JSXExpressionContainer > Literal"(node: Deno.lint.StringLiteral) {
          if (hasWord(String(node.value))) context.report({ node, message: node.value });
        },
        "JSXFragment > JSXExpressionContainer > Literal"(node: Deno.lint.StringLiteral) {
          if (hasWord(String(node.value))) context.report({ node, message: node.value });
        },
        Literal(node) {
          if (isSentence(String(node.value))) context.report({ node, message: String(node.value) });
        },
        TemplateElement(node) {
          if (isSentence(node.cooked)) context.report({ node, message: node.cooked });
        },
        JSXAttribute(node) {
          const { name, value, parent } = node;
          if (name.type !== "JSXIdentifier" || !SHOWN.has(name.name)) return;
          const tag = parent.type === "JSXOpeningElement" && parent.name.type === "JSXIdentifier"
            ? parent.name.name
            : "";
          if (name.name === "name" && (isTag(tag) || tag === "Icon")) return;
          if (value?.type === "Literal" && hasWord(String(value.value))) {
            context.report({ node, message: String(value.value) });
          }
        },
      }),
    },
  },
};

function textsIn(name: string, source: string): string[] {
  return [...new Set(Deno.lint.runPlugin(TEXT_RULE, name, source).map(({ message }) => message))].toSorted();
}

Deno.test("the console's texts for people are in texts.ts, and nowhere else in the client", async () => {
  const found: string[] = [];
  const files = [...await filesOf(CLIENT, ".tsx"), ...await filesOf(CLIENT, ".ts")];
  assert(files.length > 100);
  for (const file of files.filter((each) => !EXEMPT.test(each))) {
    for (const text of textsIn(file, await Deno.readTextFile(ROOT + file))) found.push(`${file}: ${text}`);
  }
  assertEquals(found, []);
});

Deno.test("a text in a component is found, also in an attribute", () => {
  const source = `const a = (
    <p title="A title">
      Hello {"there"} <Field name="Its name"><input name="field" placeholder="An example" /></Field>
      <Icon name="menu" /> · {TEXTS.app.name}
    </p>
  );`;
  assertEquals(textsIn("a.ts", "const b = [`It took ${seconds} s`, 'The end came', 'a class', 'Accept'];"), [
    "It took ",
    "The end came",
  ]);
  assertEquals(textsIn("a.tsx", source), ["A title", "An example", "Hello", "Its name", "there"]);
});
