import { marked, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { textOfEntities } from "./entities.ts";

/**
 * A text in Markdown. It is read into tokens, and each kind of token becomes a fixed element, so that no markup of the
 * text is ever parsed: HTML is shown as text, and pictures of other hosts as links.
 */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => marked.lexer(text), [text]);
  return <div class="markdown">{blocks(tokens)}</div>;
}

function blocks(tokens: readonly Token[]): ComponentChildren[] {
  return tokens.map((token, place) => <Block key={place} token={token} />);
}

function Block({ token }: { readonly token: Token }): VNode | null {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading depth={(token as Tokens.Heading).depth}>{inlines(token.tokens)}</Heading>;
    case "paragraph":
      return <p>{inlines(token.tokens)}</p>;
    case "code":
      return <pre tabIndex={0}><code>{(token as Tokens.Code).text}</code></pre>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "html":
      return <p>{token.raw}</p>;
    default:
      return <>{inlines([token])}</>;
  }
}

/** The page has headings of its own, so those of a reply are below them. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ComponentChildren }) {
  return <p role="heading" aria-level={Math.min(depth + 3, 6)} class={`heading-${Math.min(depth, 4)}`}>{children}</p>;
}

function List({ list: { ordered, start, items } }: { readonly list: Tokens.List }) {
  const content = items.map(({ tokens, task, checked }, place) => (
    <li key={place}>
      {task && <input type="checkbox" checked={checked === true} disabled />}
      {blocks(tokens.filter(({ type }) => type !== "checkbox"))}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{content}</ol> : <ul>{content}</ul>;
}

function Table({ table: { header, rows } }: { readonly table: Tokens.Table }) {
  const alignOf = (cell: Tokens.TableCell) => cell.align === "right" ? "numeric" : undefined;
  return (
    <div class="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>{header.map((cell, place) => <th key={place} class={alignOf(cell)}>{inlines(cell.tokens)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, place) => <td key={place} class={alignOf(cell)}>{inlines(cell.tokens)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[] | undefined): ComponentChildren[] {
  return (tokens ?? []).map((token, place) => <Inline key={place} token={token} />);
}

function Inline({ token }: { readonly token: Token }): VNode {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{inlines(token.tokens)}</Link>;
    case "image": {
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{text === "" ? href : text}</Link>;
    }
    case "escape":
      return <>{(token as Tokens.Escape).text}</>;
    case "text":
      return <>{token.tokens === undefined ? textOfEntities((token as Tokens.Text).text) : inlines(token.tokens)}</>;
    default:
      return <>{token.raw}</>;
  }
}

/** A link that leads to another site in a tab of its own, or its text if it leads to anything else. */
function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  const address = URL.parse(textOfEntities(href));
  const isSite = address !== null && /^(https?|mailto):$/.test(address.protocol);
  return isSite
    ? <a href={address.href} target="_blank" rel="noopener noreferrer">{children}</a>
    : <>{children} ({href})</>;
}
