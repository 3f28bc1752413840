/** Outlines on a grid of 24 by 24. */
const PATHS = {
  overview: "M3 12h4l3-8 4 16 3-8h4",
  requests: "M4 6h16M4 12h16M4 18h10",
  usage: "M5 20V10M12 20V4M19 20v-7",
  accounts:
    "M16 19a4 4 0 0 0-8 0M12 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M3 5v14a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2",
  providers: "M5 4h14v6H5zM5 14h14v6H5zM8 7h.01M8 17h.01",
  models: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  prices: "M4 12V4h8l8 8-8 8zM8 8h.01",
  bills: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6",
  videos: "M4 6h11v12H4zM15 10l5-3v10l-5-3",
  batches: "M8 4h12v12H8zM4 8v12h12M11 8h6M11 12h6",
  webhooks: "M12 4a8 8 0 1 0 8 8M12 9a3 3 0 1 0 3 3M12 12l8-8m-5 0h5v5",
  audit: "M9 4h6v3H9zM9 5H6v15h12V5h-3M9 12h6M9 16h4",
  caches:
    "M12 3c4.4 0 8 1.3 8 3s-3.6 3-8 3-8-1.3-8-3 3.6-3 8-3M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  configuration: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4M4 12h16",
  playground: "M4 5h16v11H9l-5 4zM10 8.5v4l4-2z",
  key: "M15 9a4 4 0 1 0-3.9 5L14 11m0 0 6-6m-3 3 2.5 2.5",
  "sign-out": "M14 4h5v16h-5M10 12H3m0 0 3-3m-3 3 3 3",
  check: "M5 12.5l4.5 4.5L19 7.5",
  menu: "M4 7h16M4 12h16M4 17h16",
  sun:
    "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  half: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon, which screen readers skip. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The sign of the product: tracks that join. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" fill="none" stroke-width="2.25" stroke-linecap="round" aria-hidden="true">
      <path class="mark-main" d="M3 17h18" />
      <path class="mark-side" d="M3 7h5c5 0 5 10 10 10" />
    </svg>
  );
}
