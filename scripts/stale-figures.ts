import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A part of `pnpm lint`: warns of pages whose figures were measured before the apps changed. Old figures are no error. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

interface Figures {
  /** It measures them again. */
  command: string
  /** What only this page measures. */
  own?: readonly string[]
}

/** Pages with figures. */
const PAGES: Readonly<Record<string, Figures>> = {
  'docs/results/README.md': { command: 'pnpm bench --publish' },
  'docs/choosing-a-framework.md': {
    command: 'pnpm bench study overhead --docs',
    own: ['nginx/conf/studies/bare*'],
  },
  'docs/reliability.md': { command: 'pnpm reliability --full --docs' },
  'docs/studies/cluster.md': {
    command: 'pnpm bench study cluster --docs',
    own: ['nginx/conf/studies/balanced*'],
  },
  'docs/studies/nginx-proxy.md': {
    command: 'pnpm bench study nginx-proxy --docs',
    own: ['nginx/conf/studies/return*', 'nginx/conf/studies/static*'],
  },
  'docs/studies/!(cluster|nginx-proxy).md': { command: 'pnpm bench study --all --docs' },
}

/** What is measured: sources of the apps, what they share, and the proxy in front. */
const MEASURED = [
  'apps/*/src/**',
  'packages/shared/src/**',
  ...['*', 'http/**', 'server/**', 'templates/**'].map((path) => `nginx/conf/${path}`),
]

/** The commits that a page names as the ones that were measured. */
export function commitsIn(text: string): string[] {
  const named = text.matchAll(/\b(?:startgrid|at commit) `?([0-9a-f]{7,40})\b/gi)
  return [...new Set([...named].map(([, commit = '']) => commit))]
}

/**
 * @param changedSince the directories that changed after a commit, `own` of a page included; undefined: the commit is not known here, as in a
 * shallow clone
 * @returns a sentence per page whose figures are older than what they are about
 */
export function findStaleFigures(
  pages: Iterable<Figures & { page: string; text: string }>,
  changedSince: (commit: string, own: readonly string[]) => readonly string[] | undefined,
): string[] {
  return [...pages].flatMap(({ page, text, command, own = [] }) =>
    commitsIn(text).flatMap((commit) => {
      const changed = changedSince(commit, own) ?? []
      if (changed.length === 0) return []
      const [first, ...more] = changed
      const what = more.length === 0 ? first : `${first} and ${more.length} more`
      return `${page} has figures of ${commit}. Since then ${what} changed. Measure again: ${command}`
    }),
  )
}

function* readPages() {
  for (const [pattern, figures] of Object.entries(PAGES))
    for (const page of globSync(pattern, { cwd: ROOT }))
      yield { page, text: readFileSync(`${ROOT}${page}`, 'utf8'), ...figures }
}

function changedSince(commit: string, own: readonly string[]): string[] | undefined {
  try {
    const paths = [...MEASURED, ...own].map((path) => `:(glob)${path}`)
    const args = ['diff', '--name-only', commit, 'HEAD', '--', ...paths]
    const files = execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .split('\n')
      .filter(Boolean)
    return [...new Set(files.map((file) => file.split('/', 2).join('/')))]
  } catch {
    return undefined
  }
}

if (import.meta.main)
  for (const sentence of findStaleFigures(readPages(), changedSince)) process.stderr.write(`! ${sentence}\n`)
