import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parse, Renderer, type Tokens } from 'marked'
import type { Document } from '../document.ts'
import { formatMarkdown } from '../markdown.ts'
import { drawChart } from './charts.ts'
import { html, trusted } from './markup.ts'

/** A document as one file that needs no network and no script: its Markdown, with charts. */

const STYLE = ['report', 'page']
  .map((name) => readFileSync(new URL(`${name}.css`, import.meta.url), 'utf8'))
  .join('')

/** Everything else is forbidden: even if markup got in, it could load and run nothing. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The finding first, then what shows it, then figures and what they rest on. */
export function formatHtml(document: Document): string {
  const markdown = formatMarkdown(document, (chart) => String(drawChart(chart)).replace(/\n+/g, '\n'))
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${document.finding.replaceAll('`', '')} – Startgrid</title>
<link rel="icon" href="data:,">
<style>${trusted(STYLE)}</style>
</head>
<body>
<main>
<p class="brand">Startgrid</p>
${trusted(parse(markdown, { renderer: new PageRenderer(), async: false }))}</main>
</body>
</html>
`.toString()
}

/** What Markdown cannot say: names for links, regions that scroll, headings of rows. */
class PageRenderer extends Renderer {
  override heading({ tokens, depth, text }: Tokens.Heading): string {
    // From the words before the colon; the title of the page needs none.
    const id = text.replace(/:.*/s, '').toLowerCase().replace(/\W+/g, '-')
    const name = depth === 1 ? '' : ` id="${id}"`
    return `<h${depth}${name}>${this.parser.parseInline(tokens)}</h${depth}>\n`
  }

  override table(token: Tokens.Table): string {
    const rows = super
      .table(token)
      .replace(/<tr>\n<td(.*?)>(.*?)<\/td>/gs, '<tr>\n<th scope="row"$1><div>$2</div></th>')
      .replace(/<th><\/th>/g, '<td></td>')
    return `<div class="scroll" role="group" aria-label="Table" tabindex="0">${rows}</div>\n`
  }

  override code({ text }: Tokens.Code): string {
    return `${html`<pre tabindex="0" role="group" aria-label="Command that repeats it"><code>${text.trimEnd()}</code></pre>`}\n`
  }

  /** GitHub's way to mark warnings. */
  override blockquote(token: Tokens.Blockquote): string {
    return super
      .blockquote(token)
      .replace('<blockquote>', '<blockquote class="warnings">')
      .replace('<p>[!WARNING]</p>', '<h2>Warnings</h2>')
  }

  /** An address in a text stays one. */
  override link({ tokens }: Tokens.Link): string {
    return this.parser.parseInline(tokens)
  }
}
