import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

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
export function resolveLink(link: string, from: string, repository: string | undefined): string | undefined {
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
