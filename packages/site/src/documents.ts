import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MarkdownIt, Token } from '@11ty/eleventy'

/** Which Markdown files of the repository are pages, and where their links lead. */

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The five pages: `path` is their address. */
export const PAGES = [
  { path: '/', title: 'Home' },
  { path: '/results/', title: 'Results' },
  { path: '/claims/', title: 'Claims' },
  { path: '/start/', title: 'Start' },
  { path: '/how-we-know/', title: 'How we know' },
] as const

const OWN = 'packages/site/src/pages/'

/**
 * The address of a page by its file: `docs/race.md` is `/docs/race/`, and a README that of its folder. The five pages have theirs by name.
 * @param file from the root of the repository
 */
export function addressOf(file: string): string {
  if (file === 'README.md') return '/repository/'
  const name = file.replace(OWN, '').replace(/\.(?:md|11ty\.ts)$/, '')
  return `/${name.replace(/(?:^|\/)(?:README|index)$/, '')}/`.replace('//', '/')
}

/**
 * Where a link in a file leads: to a page, to a file of the repository, or to another host.
 * @param repository address of the repository's files, such as `https://git.example/startgrid/blob/main`; undefined if it is not known
 * @returns undefined if there is no place to link to
 * @throws {Error} if the file does not exist
 */
function resolveLink(link: string, from: string, repository: string | undefined): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(link)) return link
  const [path = '', anchor] = link.split('#')
  const target = posix.join(posix.dirname(from), path).replace(/\/$/, '')
  if (!existsSync(ROOT + target)) throw new Error(`${from} links to ${link}, which does not exist.`)
  const page = [target, `${target}/README.md`, `${target}/index.md`].find(
    (file) => file.endsWith('.md') && existsSync(ROOT + file),
  )
  if (page !== undefined) return addressOf(page) + (anchor === undefined ? '' : `#${anchor}`)
  return repository === undefined ? undefined : `${repository}/${target}`
}

/**
 * Makes Markdown as this repository has it look as it does on GitHub: anchors, links between files, alerts, and tables that scroll.
 * @param repository see `resolveLink`
 */
export function amendMarkdown(library: MarkdownIt, repository: string | undefined): void {
  library.core.ruler.push('repository', ({ tokens, env }) => {
    const from = env.page.inputPath.replace(/^\.\//, '')
    nameHeadings(tokens)
    markAlerts(tokens)
    for (const { children } of tokens) for (const token of children ?? []) follow(token, from, repository)
  })
  library.renderer.rules.table_open = () =>
    '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>'
  library.renderer.rules.table_close = () => '</table></div>'
}

/** The names that GitHub gives them. */
function nameHeadings(tokens: readonly Token[]): void {
  const seen = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const words = (tokens[index + 1]?.children ?? []).map(({ content }) => content).join('')
    const letters = words.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '')
    const name = letters.replace(/\s/g, '-')
    const times = seen.get(name) ?? 0
    seen.set(name, times + 1)
    token.attrSet('id', times === 0 ? name : `${name}-${times}`)
  }
}

/** `> [!WARNING]` */
function markAlerts(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const [first, second] = tokens[index + 2]?.children ?? []
    const kind = /^\[!([A-Z]+)\]$/.exec(first?.content ?? '')?.[1]
    if (token.type !== 'blockquote_open' || kind === undefined || first === undefined) continue
    token.attrSet('class', `alert ${kind.toLowerCase()}`)
    first.content = ''
    if (second?.type === 'softbreak') second.type = 'text'
  }
}

/** A link without a place to lead to is only text. */
function follow(token: Token, from: string, repository: string | undefined): void {
  const name = token.type === 'image' ? 'src' : 'href'
  const link = token.attrGet(name)
  if (link === null) return
  const target = name === 'src' ? link.replace(/^.*\//, '/images/') : resolveLink(link, from, repository)
  if (target === undefined) token.attrs = token.attrs?.filter(([attribute]) => attribute !== name) ?? null
  else token.attrSet(name, target)
}
