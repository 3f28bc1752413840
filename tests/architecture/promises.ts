import { dirname, join } from "node:path";
import ts from "typescript";

/** A promise whose failure nothing handles: `src/calls/x.ts:12: void this.#send()`. */
export type LoosePromise = string;

/** The options of the compiler for source files that Deno runs. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.esnext.d.ts"],
  types: [],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
};

/** Where declarations come from. */
export interface Declarations {
  /** Files with global types, by their paths. */
  readonly globals: ReadonlyMap<string, string>;
  /** The file of a bare specifier; null if there is none, and its values have the type `any`. */
  readonly fileOf: (specifier: string) => string | null;
}

/**
 * The promises in source files that are neither awaited nor returned, and have no failure handler. Kinds:
 *
 * - a statement, or an operand of `void` or of a comma, that is a promise;
 * - a function that returns a promise where one without a result is expected, so that its caller drops the promise;
 * - a variable with a promise that is used for the first time after another `await`, by when it can have failed.
 *
 * A failure handler is the argument of `catch`, or the second one of `then`. `void` is none.
 *
 * @param files Paths of the source files.
 * @param readFile Returns the text of a file; undefined if it does not exist.
 */
export function loosePromises(
  files: readonly string[],
  readFile: (path: string) => string | undefined,
  { globals, fileOf }: Declarations,
): LoosePromise[] {
  const read = (path: string) => globals.get(path) ?? readFile(path);
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(OPTIONS),
    readFile: read,
    fileExists: (path) => read(path) !== undefined,
    getSourceFile(path, version) {
      const text = read(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, version, true);
    },
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => {
        const path = text.startsWith(".") ? join(dirname(from), text) : fileOf(text);
        const extension = path === null ? undefined : ts.Extension[path.endsWith(".d.ts") ? "Dts" : "Ts"];
        return {
          resolvedModule: path === null || extension === undefined ? undefined : { resolvedFileName: path, extension },
        };
      }),
  };
  const program = ts.createProgram([...globals.keys(), ...files], OPTIONS, host);
  const checker = program.getTypeChecker();
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    return source === undefined ? [] : new Finder(checker, source).found();
  });
}

class Finder {
  readonly #found: LoosePromise[] = [];
  /** Variables and fields whose value is awaited, returned or passed on. */
  readonly #used = new Set<ts.Symbol>();

  constructor(readonly checker: ts.TypeChecker, readonly source: ts.SourceFile) {}

  found(): LoosePromise[] {
    this.#noteUses(this.source);
    this.#visit(this.source);
    return this.#found;
  }

  readonly #noteUses = (node: ts.Node): void => {
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && isUsed(node)) {
      const symbol = this.#symbolOf(node);
      if (symbol !== undefined) this.#used.add(symbol);
    }
    ts.forEachChild(node, this.#noteUses);
  };

  /** The variable or field of a name; in a shorthand property the variable. */
  #symbolOf(name: ts.Node): ts.Symbol | undefined {
    return ts.isShorthandPropertyAssignment(name.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.checker.getSymbolAtLocation(name);
  }

  readonly #visit = (node: ts.Node): void => {
    const dropped = droppedIn(node);
    if (dropped !== null && this.#isLoose(dropped)) this.#add(node);
    if (ts.isExpression(node) && this.#isDroppedResult(node)) this.#add(node);
    if (ts.isVariableDeclaration(node) && this.#isUsedLate(node)) this.#add(node);
    ts.forEachChild(node, this.#visit);
  };

  #add(node: ts.Node): void {
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart(this.source));
    const [text = ""] = node.getText(this.source).split("\n");
    this.#found.push(`${this.source.fileName}:${line + 1}: ${text}`);
  }

  /** Whether an expression whose value is dropped can be a promise without a failure handler. */
  #isLoose(expression: ts.Expression): boolean {
    const inner = withoutParentheses(expression);
    if (ts.isBinaryExpression(inner) && isAssignment(inner.operatorToken.kind)) {
      const { left, right } = inner;
      const name = ts.isPropertyAccessExpression(left) ? left.name : left;
      const symbol = this.checker.getSymbolAtLocation(name);
      return (symbol === undefined || !this.#used.has(symbol)) && this.#isLoose(right);
    }
    if (ts.isConditionalExpression(inner)) return this.#isLoose(inner.whenTrue) || this.#isLoose(inner.whenFalse);
    if (ts.isBinaryExpression(inner) && isLogical(inner.operatorToken.kind)) return this.#isLoose(inner.right);
    if (ts.isVoidExpression(inner) || ts.isAwaitExpression(inner)) return false; // visited on their own
    return this.#isPromise(this.checker.getTypeAtLocation(inner)) && !hasHandler(inner);
  }

  #isPromise(type: ts.Type): boolean {
    if (type.isUnion()) return type.types.some((each) => this.#isPromise(each));
    const then = type.getProperty("then");
    return then !== undefined && (type.getProperty("catch") !== undefined || type.symbol?.name === "PromiseLike");
  }

  /** Whether a function returns a promise where one without a result is expected. */
  #isDroppedResult(node: ts.Expression): boolean {
    const isValue = ts.isArrowFunction(node) || ts.isFunctionExpression(node) ||
      ((ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) && isPassed(node));
    if (!isValue) return false;
    const expected = this.checker.getContextualType(node);
    const signatures = expected === undefined ? [] : this.checker.getNonNullableType(expected).getCallSignatures();
    if (signatures.length === 0 || !signatures.every((each) => isVoid(each.getReturnType()))) return false;
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && !node.modifiers?.length) return this.#isLoose(node.body);
    const own = this.checker.getTypeAtLocation(node).getCallSignatures();
    return own.some((each) => this.#isPromise(each.getReturnType()));
  }

  /** Whether another `await` stands between a variable with a promise and the first use of it. */
  #isUsedLate({ name, initializer }: ts.VariableDeclaration): boolean {
    if (initializer === undefined || !ts.isIdentifier(name)) return false;
    const inner = withoutParentheses(initializer);
    if (!ts.isCallExpression(inner) || hasHandler(inner)) return false;
    if (!this.#isPromise(this.checker.getTypeAtLocation(inner))) return false;
    const symbol = this.checker.getSymbolAtLocation(name);
    const scope = scopeOf(name);
    let firstUse: ts.Node | null = null;
    let firstWait: ts.Node | null = null;
    const visit = (node: ts.Node): void => {
      if (node.pos > initializer.end - 1 && node !== name) {
        if (ts.isIdentifier(node) && this.#symbolOf(node) === symbol) firstUse ??= node;
        if (isWait(node) && scopeOf(node) === scope) firstWait ??= node;
      }
      ts.forEachChild(node, visit);
    };
    visit(scope);
    const use: ts.Node | null = firstUse;
    const wait: ts.Node | null = firstWait;
    if (use === null) return true;
    return wait !== null && endOf(wait) <= endOf(use) && !contains(wait, use);
  }
}

/** The expression whose value a node drops; null if it drops none. */
function droppedIn(node: ts.Node): ts.Expression | null {
  if (ts.isExpressionStatement(node)) return node.expression;
  if (ts.isVoidExpression(node)) return node.expression;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.CommaToken) return node.left;
  return null;
}

/** Whether a promise has a failure handler: `catch(f)`, `then(f, g)`, also before `finally`. */
function hasHandler(expression: ts.Expression): boolean {
  const call = withoutParentheses(expression);
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return false;
  const { name, expression: target } = call.expression;
  if (name.text === "catch") return call.arguments.length > 0;
  if (name.text === "then") return call.arguments.length > 1;
  return name.text === "finally" && hasHandler(target);
}

function withoutParentheses(expression: ts.Expression): ts.Expression {
  return ts.isParenthesizedExpression(expression) ? withoutParentheses(expression.expression) : expression;
}

function isLogical(kind: ts.SyntaxKind): boolean {
  return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken ||
    kind === ts.SyntaxKind.QuestionQuestionToken;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind === ts.SyntaxKind.EqualsToken || kind === ts.SyntaxKind.QuestionQuestionEqualsToken ||
    kind === ts.SyntaxKind.BarBarEqualsToken;
}

/** Whether the value of a name is awaited, returned, passed on, or gets a handler. */
function isUsed(name: ts.Node): boolean {
  let node: ts.Node = name;
  if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) node = node.parent;
  while (ts.isParenthesizedExpression(node.parent) || ts.isNonNullExpression(node.parent)) node = node.parent;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return ["then", "catch", "finally"].includes(parent.name.text);
  if (ts.isBinaryExpression(parent)) {
    const kind = parent.operatorToken.kind;
    if (isAssignment(kind)) return parent.right === node || (parent.left === node && isUsed(parent));
    return isLogical(kind) && isUsed(parent);
  }
  if (ts.isVariableDeclaration(parent)) return parent.initializer === node;
  if (ts.isConditionalExpression(parent)) return parent.condition !== node && isUsed(parent);
  return ts.isAwaitExpression(parent) || ts.isReturnStatement(parent) || ts.isArrayLiteralExpression(parent) ||
    (ts.isCallExpression(parent) && parent.expression !== node) ||
    (ts.isArrowFunction(parent) && parent.body === node) ||
    ts.isPropertyAssignment(parent) || ts.isShorthandPropertyAssignment(parent);
}

/** Whether an expression is an argument, or the value of a property. */
function isPassed({ parent }: ts.Expression): boolean {
  return ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isPropertyAssignment(parent);
}

function isVoid(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Void) !== 0;
}

function isWait(node: ts.Node): boolean {
  return ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined);
}

function scopeOf(node: ts.Node): ts.Node {
  return ts.isSourceFile(node) || (ts.isFunctionLike(node)) ? node : scopeOf(node.parent);
}

function endOf(node: ts.Node): number {
  return node.end;
}

function contains(outer: ts.Node, inner: ts.Node): boolean {
  return outer.pos <= inner.pos && inner.end <= outer.end;
}
