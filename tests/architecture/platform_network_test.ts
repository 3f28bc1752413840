import { assertEquals } from "@std/assert";
import { join } from "node:path";
import ts from "typescript";
import { ROOT, sourceFiles } from "./source_files.ts";

/**
 * The platform's clients obey `HTTP_PROXY` for every address, also loopback, and know no egress guard. The gateway's
 * process sends requests by `src/platform/net` alone.
 */
const CLIENTS: ReadonlySet<string> = new Set(["fetch", "WebSocket", "WebSocketStream", "EventSource", "AwsClient"]);

/** Commands of operators, in processes of their own. */
const COMMANDS: readonly string[] = ["src/entry/cli/find/gateway_fetch.ts", "src/entry/doctor/network_checks.ts"];

/** Runs in browsers. */
const CONSOLE_CLIENT = "src/console/client/";

Deno.test("the gateway's process uses no HTTP client of the platform", async () => {
  const files = (await sourceFiles("src")).filter((path) => !path.startsWith(CONSOLE_CLIENT));
  const found: string[] = [];
  for (const path of files) {
    const text = await Deno.readTextFile(join(ROOT, path));
    if (clientsIn(text).length > 0) found.push(path);
  }
  assertEquals(found, COMMANDS);
});

Deno.test("a use of a platform's client is told from a method and a variable of the same name", () => {
  assertEquals(clientsIn("const a = await fetch(url);"), ["fetch"]);
  assertEquals(clientsIn("run({ send: fetch });"), ["fetch"]);
  assertEquals(clientsIn("run({ fetch });"), ["fetch"]);
  assertEquals(clientsIn("globalThis.fetch(url); self['fetch'](url);"), ["fetch", "fetch"]);
  assertEquals(clientsIn("const socket = new WebSocket(url);"), ["WebSocket"]);
  assertEquals(clientsIn('import { AwsClient } from "aws4fetch";'), ["AwsClient"]);
  assertEquals(clientsIn("// fetch\nthis.fetch(url); downloads.fetch(url);"), []);
  assertEquals(clientsIn("function get(url: string, fetch: Fetch) { return fetch(url); }"), []);
  assertEquals(clientsIn("interface Parts { fetch(): void } class A { async fetch() {} }"), []);
});

/** The names of the clients that a file uses, in order. */
function clientsIn(text: string): string[] {
  const file = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && CLIENTS.has(node.text) && isUse(node)) found.push(node.text);
    if (ts.isStringLiteral(node) && CLIENTS.has(node.text) && ts.isElementAccessExpression(node.parent)) {
      found.push(node.text);
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isImportSpecifier(parent)) return true;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return isGlobal(parent.expression);
  const isName = (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent) ||
    ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent) || ts.isParameter(parent) ||
    ts.isVariableDeclaration(parent) || ts.isBindingElement(parent)) && parent.name === node;
  return !isName && !isBound(node);
}

function isGlobal(expression: ts.Expression): boolean {
  return ts.isIdentifier(expression) && ["globalThis", "self", "window"].includes(expression.text);
}

/** Whether a function around it has a parameter or a variable of that name. */
function isBound(node: ts.Identifier): boolean {
  for (let scope: ts.Node | undefined = node.parent; scope !== undefined; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some(({ name }) => binds(name, node.text))) return true;
    if (!ts.isBlock(scope)) continue;
    for (const statement of scope.statements) {
      if (!ts.isVariableStatement(statement)) continue;
      if (statement.declarationList.declarations.some(({ name }) => binds(name, node.text))) return true;
    }
  }
  return false;
}

function binds(name: ts.BindingName, text: string): boolean {
  if (ts.isIdentifier(name)) return name.text === text;
  return name.elements.some((element) => ts.isBindingElement(element) && binds(element.name, text));
}
