/** The style sheet of the documentation's pages. */
export const STYLE = `
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 1fr); }
nav { padding: 1.5rem 1rem; border-right: 1px solid #8884; font-size: .875rem; }
nav ul { list-style: none; margin: 0; padding: 0; position: sticky; top: 1.5rem; max-height: 95vh; overflow: auto; }
nav li { padding: .15rem 0; }
nav li[aria-current] { font-weight: 600; }
main { padding: 1rem 2rem 4rem; max-width: 62rem; }
h1 a, h2 a, h3 a, h4 a { color: inherit; text-decoration: none; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8884; }
:target { background: #fd02; }
pre { padding: .75rem 1rem; overflow: auto; background: #8882; border-radius: 6px; }
code { font: .9em ui-monospace, monospace; }
table { border-collapse: collapse; display: block; overflow: auto; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border: 1px solid #8884; }
.address { font-size: 1.1em; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .3rem 0; }
@media (max-width: 50rem) { body { display: block; } nav { border: 0; } nav ul { max-height: 10rem; } }
`;
