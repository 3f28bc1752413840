import ts from "typescript";

/** A loop that may wait for ever, by the rule of CONTRIBUTING.md#style. */
export interface UnboundedLoop {
  /** From 1. */
  readonly line: number;
  /** Its first line. */
  readonly text: string;
}

/** Methods that read the next part of a source. A loop that awaits one ends with its source. */
const SOURCES: ReadonlySet<string> = new Set(["read", "#read", "next", "#next", "scan", "ledger", "claim", "readPage"]);
/** Functions that wait for some time. A loop that awaits one can neither spin nor freeze its thread. */
const PAUSES: ReadonlySet<string> = new Set(["sleep", "pause", "wait", "#wait"]);
/** What a callback of a promise calls to resolve it later. */
const TIMERS: ReadonlySet<string> = new Set(["setTimeout", "after"]);
/** A comment directly above a loop that says why it ends. */
const REASON = /^\/\/ Ends\b/;

type Loop = ts.WhileStatement | ts.DoStatement | ts.ForStatement;

/**
 * Returns the loops of a source file that await something, and of which nothing shows that they end: they are neither
 * counted, nor read a source, nor pause, nor have a comment that starts with `Ends`. Loops over the items of a list or
 * of a stream (`for … of`, `for await`) end with it.
 */
export function unboundedLoopsIn(path: string, text: string): UnboundedLoop[] {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const found: UnboundedLoop[] = [];
  const visit = (node: ts.Node) => {
    if (isLoop(node) && awaitsIn(node).length > 0 && !isBounded(node, file)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push({ line: line + 1, text: node.getText().split("\n", 1)[0] ?? "" });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

function isLoop(node: ts.Node): node is Loop {
  return ts.isWhileStatement(node) || ts.isDoStatement(node) || ts.isForStatement(node);
}

function isBounded(loop: Loop, file: ts.SourceFile): boolean {
  return isCounted(loop) || awaitsIn(loop).some((each) => isReadOrPause(each.expression)) || hasReason(loop, file);
}

/** Every part of a node that its own function evaluates, which is not part of an inner function. */
function* partsOf(node: ts.Node): Generator<ts.Node> {
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) {
    yield child;
    if (!ts.isFunctionLike(child)) yield* partsOf(child);
  }
}

function awaitsIn(node: ts.Node): ts.AwaitExpression[] {
  return [...partsOf(node)].filter(ts.isAwaitExpression);
}

/** Whether the head of a `for` changes a counter that is compared with something, or is an index, within the loop. */
function isCounted(loop: Loop): boolean {
  if (!ts.isForStatement(loop) || loop.incrementor === undefined) return false;
  const counter = counterOf(loop.incrementor);
  if (counter === null) return false;
  const parts = [...partsOf(loop)];
  // The body may not set it back.
  if (parts.some((part) => part !== loop.incrementor && isAssignmentTo(counter, part))) return false;
  return parts.some((part) =>
    ts.isBinaryExpression(part) && COMPARISONS.has(part.operatorToken.kind) && part.getText().includes(counter) ||
    ts.isElementAccessExpression(part) && part.argumentExpression.getText() === counter
  );
}

const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
]);

function counterOf(incrementor: ts.Expression): string | null {
  if (ts.isPostfixUnaryExpression(incrementor) || ts.isPrefixUnaryExpression(incrementor)) {
    return incrementor.operand.getText();
  }
  if (!ts.isBinaryExpression(incrementor)) return null;
  const { kind } = incrementor.operatorToken;
  const isStep = kind === ts.SyntaxKind.PlusEqualsToken || kind === ts.SyntaxKind.MinusEqualsToken;
  return isStep ? incrementor.left.getText() : null;
}

function isAssignmentTo(name: string, part: ts.Node): boolean {
  return ts.isBinaryExpression(part) && part.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    part.left.getText() === name;
}

function isReadOrPause(awaited: ts.Expression): boolean {
  if (ts.isNewExpression(awaited)) {
    // The timer is in the function of the promise.
    const inFunctions = (node: ts.Node): boolean =>
      ts.isCallExpression(node) && TIMERS.has(nameOf(node.expression)) ||
      (node.forEachChild((child) => inFunctions(child) || undefined) ?? false);
    return inFunctions(awaited);
  }
  if (!ts.isCallExpression(awaited)) return false;
  const name = nameOf(awaited.expression);
  return SOURCES.has(name) || PAUSES.has(name);
}

function nameOf(called: ts.Expression): string {
  return ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
}

function hasReason(loop: Loop, file: ts.SourceFile): boolean {
  const comments = ts.getLeadingCommentRanges(file.text, loop.getFullStart()) ?? [];
  return comments.some(({ pos, end }) => REASON.test(file.text.slice(pos, end)));
}
