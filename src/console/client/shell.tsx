import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AwayNotice } from "./components/away_notice.tsx";
import { Icon, Mark } from "./components/icon.tsx";
import { hrefOf, path } from "./navigation.ts";
import type { Page } from "./page.ts";
import { signOut } from "./session.ts";
import type { SignedIn } from "./session_state.ts";
import { TEXTS } from "./texts.ts";
import { storedTheme, type Theme, useTheme } from "./theme.ts";

/** The frame of every page: the navigation, who has signed in, and the page itself. */
export function Shell({ pages, page, signedIn, children }: {
  readonly pages: readonly Page[];
  /** Null if the address has no page. */
  readonly page: Page | null;
  readonly signedIn: SignedIn;
  readonly children: ComponentChildren;
}) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => {
    document.title = page === null ? TEXTS.app.name : `${page.title} · ${TEXTS.app.name}`;
    setMenuOpen(false);
  }, [page, path.value]);
  return (
    <div class="shell">
      <a class="skip" href="#main">{TEXTS.app.skip}</a>
      <header class="side">
        <div class="side-head">
          <a class="brand" href={hrefOf("")}>
            <Mark /> {TEXTS.app.name}
          </a>
          <button
            type="button"
            class="icon-button menu-button"
            aria-expanded={isMenuOpen}
            aria-controls="menu"
            aria-label={TEXTS.app.menu}
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            <Icon name="menu" />
          </button>
        </div>
        <div id="menu" class={isMenuOpen ? "menu open" : "menu"}>
          <nav aria-label={TEXTS.app.pages}>
            {pages.map((each) => (
              <a key={each.path} href={hrefOf(each.path)} aria-current={each === page ? "page" : undefined}>
                <Icon name={each.icon} /> {each.title}
              </a>
            ))}
          </nav>
          <Account signedIn={signedIn} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <AwayNotice />
        {children}
      </main>
    </div>
  );
}

function Account({ signedIn }: { readonly signedIn: SignedIn }) {
  const [name, role] = signedIn.kind === "operator"
    ? [signedIn.name, TEXTS.app.roles[signedIn.role]]
    : [signedIn.account, TEXTS.app.roles.caller];
  return (
    <div class="account">
      <ThemeChoice />
      <div class="account-name">
        <strong title={name}>{name}</strong>
        <span class="hint">{role}</span>
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label={TEXTS.app.signOut}
        title={TEXTS.app.signOut}
        onClick={() => void signOut().catch(() => location.reload())}
      >
        <Icon name="sign-out" />
      </button>
    </div>
  );
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };

function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme());
  useTheme(theme);
  const label = TEXTS.app.themes[theme];
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => setTheme(NEXT[theme])}
    >
      <Icon name={theme === "light" ? "sun" : theme === "dark" ? "moon" : "half"} />
    </button>
  );
}
