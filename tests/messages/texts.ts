import ts from "typescript";

/** Two words in a row: what tells a sentence from a key, a path or a header. */
const PROSE = /[A-Za-z]{2,}[,;:]? [a-z]{2,}/;

/**
 * The texts in a source file that a caller or an operator can read: every string and template with two words in a row.
 * Pieces joined with `+` make one text. A value in a template is written `{name}`, or `{…}` when it is an expression.
 *
 * @param name Of the file; its ending names the language.
 */
export function textsIn(source: string, name = "source.ts"): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.ESNext, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    const text = textOf(node);
    if (text === null) return ts.forEachChild(node, visit);
    if (PROSE.test(text)) found.push(escaped(text));
    valuesOf(node).forEach(visit);
  };
  visit(file);
  return found;
}

/** The text of a literal or of literals joined with `+`; null for any other expression. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => placeholder(span.expression) + span.literal.text).join("");
  }
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    if (left === null && right === null) return null;
    return (left ?? placeholder(node.left)) + (right ?? placeholder(node.right));
  }
  return null;
}

/** The expressions inside a text, which can hold texts of their own. */
function valuesOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isTemplateExpression(node)) return node.templateSpans.map((span) => span.expression);
  if (ts.isParenthesizedExpression(node)) return valuesOf(node.expression);
  if (ts.isBinaryExpression(node)) {
    return [node.left, node.right].flatMap((side) => textOf(side) === null ? [side] : valuesOf(side));
  }
  return [];
}

function placeholder(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return `{${expression.text}}`;
  if (ts.isPropertyAccessExpression(expression)) return `{${expression.name.text}}`;
  if (ts.isCallExpression(expression)) return placeholder(expression.expression).replace("}", "()}");
  return "{…}";
}

/** A text on one line of plain text: control characters as JSON writes them. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}
