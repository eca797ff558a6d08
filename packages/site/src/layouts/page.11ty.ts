import type { Page } from '@11ty/eleventy'
import { html, trusted } from '@startgrid/bench/src/report/html/markup.ts'
import { PAGES } from '../documents.ts'

/** The frame of every page. */
export function render({ content, page }: Page): string {
  const title = /<h1[^>]*>(.*?)<\/h1>/s.exec(content)?.[1]?.replace(/<[^>]+>/g, '') ?? 'Startgrid'
  const links = PAGES.map(
    ({ path, title }) =>
      html`<li><a href="${path}"${path === page.url && html` aria-current="page"`}>${title}</a></li>`,
  )
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="description" content="Reference JavaScript servers: the same three apps per framework, under one tested contract, compared with intervals.">
<title>${trusted(title)}${title !== 'Startgrid' && ' – Startgrid'}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/site.css">
<script type="module" src="/site.js"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><nav aria-label="Pages"><a class="brand" href="/">Startgrid</a><ul>${links}</ul></nav></header>
<main id="content" tabindex="-1">
${trusted(accessible(content))}
</main>
<footer><p><a href="/docs/">All documents</a> · <a href="/repository/">The repository</a> · Apache-2.0</p></footer>
</body>
</html>
`.toString()
}

/** What scrolls can be reached by keyboard, and a corner of a table is no heading. */
function accessible(content: string): string {
  return content
    .replaceAll('<pre>', '<pre tabindex="0" role="group" aria-label="Code">')
    .replace(/<th( style="[^"]*")?><\/th>/g, '<td$1></td>')
}
