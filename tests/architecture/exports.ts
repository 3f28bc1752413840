import { dirname, join, normalize } from "node:path";
import ts from "typescript";

/** An exported name that nothing outside its file needs. */
export interface NeedlessExport {
  readonly file: string;
  readonly name: string;
}

/** A name that a file takes from another one and exports as its own. */
export interface ReExport {
  readonly file: string;
  readonly name: string;
}

/** Each file's syntax tree by its path from the root. */
export type SourceTrees = ReadonlyMap<string, ts.SourceFile>;

/** Parses source texts that are given by their paths from the root. */
export function parsed(texts: ReadonlyMap<string, string>): SourceTrees {
  const parse = (file: string, text: string) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  return new Map([...texts].map(([file, text]) => [file, parse(file, text)]));
}

/**
 * The exported names of the files under `src` that no other file imports. A type is needed as well when it stands in
 * the signature of a needed export of its file: a caller may have to name it.
 *
 * @param packages The file behind each bare specifier of `deno.json` that names a file.
 */
export function needlessExports(files: SourceTrees, packages: Readonly<Record<string, string>>): NeedlessExport[] {
  const imported = importedNames(files, packages);
  return [...files].flatMap(([file, source]) => {
    const names = imported.get(file) ?? new Set<string>();
    if (!isChecked(file) || names.has("*")) return [];
    return needless(exportsOf(source), names).map((name) => ({ file, name }));
  });
}

/** Names that files under `src` export again, apart from a folder's public face, `mod.ts`. */
export function reExports(files: SourceTrees): ReExport[] {
  return [...files].flatMap(([file, source]) => {
    if (!isChecked(file) || file.endsWith("/mod.ts")) return [];
    return source.statements.filter(ts.isExportDeclaration)
      .map((statement) => ({ file, name: statement.exportClause?.getText(source) ?? "*" }));
  });
}

/** Vendored files keep their form. */
function isChecked(file: string): boolean {
  return file.startsWith("src/") && !file.startsWith("src/platform/lib/std/");
}

/** The names that other files import from each file; `*` for a file that is imported as a whole. */
function importedNames(
  files: SourceTrees,
  packages: Readonly<Record<string, string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [file, source] of files) {
    const use = (specifier: string, name: string) => {
      const target = specifier.startsWith(".") ? normalize(join(dirname(file), specifier)) : packages[specifier];
      if (target === undefined) return;
      found.set(target, (found.get(target) ?? new Set()).add(name));
    };
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node)) useImport(node, use);
      else if (ts.isExportDeclaration(node)) useReExport(node, use);
      else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
        const [specifier] = node.arguments;
        if (specifier && ts.isStringLiteralLike(specifier)) use(specifier.text, "*");
      } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
        const { literal } = node.argument;
        if (ts.isStringLiteral(literal)) use(literal.text, "*");
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

type Use = (specifier: string, name: string) => void;

function useImport({ moduleSpecifier, importClause }: ts.ImportDeclaration, use: Use): void {
  if (!ts.isStringLiteral(moduleSpecifier)) return;
  const bindings = importClause?.namedBindings;
  if (importClause?.name) use(moduleSpecifier.text, "default");
  if (!bindings) return;
  if (ts.isNamespaceImport(bindings)) return use(moduleSpecifier.text, "*");
  for (const { propertyName, name } of bindings.elements) use(moduleSpecifier.text, (propertyName ?? name).text);
}

function useReExport({ moduleSpecifier, exportClause }: ts.ExportDeclaration, use: Use): void {
  if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return;
  if (!exportClause || !ts.isNamedExports(exportClause)) return use(moduleSpecifier.text, "*");
  for (const { propertyName, name } of exportClause.elements) use(moduleSpecifier.text, (propertyName ?? name).text);
}

/** Each exported name of a file with its declarations: overloads have several. */
export function exportsOf(source: ts.SourceFile): ReadonlyMap<string, readonly ts.Node[]> {
  const found = new Map<string, ts.Node[]>();
  const add = (name: string, node: ts.Node) => found.set(name, [...found.get(name) ?? [], node]);
  for (const statement of source.statements) {
    if (!isExported(statement)) continue;
    if (ts.isVariableStatement(statement)) {
      for (const each of statement.declarationList.declarations) {
        if (ts.isIdentifier(each.name)) add(each.name.text, each);
      }
    } else if (isNamed(statement)) add(statement.name.text, statement);
  }
  return found;
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) ?? [] : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function isNamed(statement: ts.Statement): statement is ts.Statement & { readonly name: ts.Identifier } {
  return "name" in statement && ts.isIdentifier(statement.name as ts.Node);
}

function needless(exports: ReadonlyMap<string, readonly ts.Node[]>, imported: ReadonlySet<string>): string[] {
  const needed = new Set([...exports.keys()].filter((name) => imported.has(name)));
  // A set visits what is added to it meanwhile.
  for (const name of needed) {
    for (const type of (exports.get(name) ?? []).flatMap(typesInSignature)) if (exports.has(type)) needed.add(type);
  }
  return [...exports.keys()].filter((name) => !needed.has(name));
}

/** The names of types in what a declaration shows to other files. */
function typesInSignature(declaration: ts.Node): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || isHidden(node)) return;
    if (ts.isTypeReferenceNode(node)) names.push(leftmost(node.typeName));
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression)) names.push(node.expression.text);
    ts.forEachChild(node, visit);
  };
  visit(declaration);
  return names;
}

function leftmost(name: ts.EntityName): string {
  return ts.isIdentifier(name) ? name.text : leftmost(name.left);
}

function isHidden(node: ts.Node): boolean {
  if (!ts.isClassElement(node)) return false;
  const isPrivate = ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  return isPrivate || (node.name !== undefined && ts.isPrivateIdentifier(node.name));
}
