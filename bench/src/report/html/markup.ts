/** HTML made of text: whatever is put in is escaped, so that a name or a finding that looks like markup stays text. */

/** What may stand in a page as it is. Made by `html` and, for what a library drew, by `trusted`. */
export class Markup {
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  toString(): string {
    return this.#source
  }
}

/** Lists are joined; null and false leave nothing. */
export type Part = Markup | string | number | null | false | readonly Part[]

/** A template of markup: `` html`<p>${anything}</p>` ``. Attribute values must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((string, index) => string + render(parts[index] ?? null)).join(''))
}

/** Markup from a source that escapes by itself. Never for anything that was measured or read. */
export function trusted(source: string): Markup {
  return new Markup(source)
}

/** A sentence whose words between backticks are code. */
export function prose(sentence: string): Markup {
  const parts = sentence.split('`')
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

function render(part: Part): string {
  if (part === null || part === false) return ''
  if (part instanceof Markup) return part.toString()
  if (typeof part === 'object') return part.map(render).join('')
  return escapeText(String(part))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
