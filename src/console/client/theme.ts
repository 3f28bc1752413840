import { useEffect } from "preact/hooks";

/** The colours: those of the browser's setting, or always light or dark. */
export type Theme = "system" | "light" | "dark";

const KEY = "switchyard-theme";

/** The choice of an earlier visit. */
export function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Uses a theme for the whole page, and stores the choice. */
export function useTheme(theme: Theme): void {
  useEffect(() => {
    if (theme === "system") {
      localStorage.removeItem(KEY);
      document.documentElement.removeAttribute("data-theme");
    } else {
      localStorage.setItem(KEY, theme);
      document.documentElement.setAttribute("data-theme", theme);
    }
    dispatchEvent(new Event("themechange"));
  }, [theme]);
}
