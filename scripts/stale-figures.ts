import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A part of `pnpm lint`: warns of pages whose figures were measured before the apps changed. Old figures are no error. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Pages with figures, and the command that measures them again. */
const PAGES: Readonly<Record<string, string>> = {
  'docs/results.md': 'pnpm bench, whose report.md is this page',
  'docs/choosing-a-framework.md': 'pnpm bench overhead --docs',
  'docs/reliability.md': 'pnpm reliability --full --docs',
  'docs/studies/*.md': 'pnpm bench study --all --docs',
}

/** What is measured: sources of the apps, what they share, and the proxy in front. */
const MEASURED = ['apps/*/src', 'packages/shared/src', 'nginx/conf']

/** The commits that a page names as the ones that were measured. */
export function commitsIn(text: string): string[] {
  const named = text.matchAll(/\b(?:startgrid|at commit) `?([0-9a-f]{7,40})\b/gi)
  return [...new Set([...named].map(([, commit = '']) => commit))]
}

/**
 * @param changedSince the directories that changed after a commit; undefined: the commit is not known here, as in a shallow clone
 * @returns a sentence per page whose figures are older than what they are about
 */
export function findStaleFigures(
  pages: Iterable<{ page: string; text: string; command: string }>,
  changedSince: (commit: string) => readonly string[] | undefined,
): string[] {
  return [...pages].flatMap(({ page, text, command }) =>
    commitsIn(text).flatMap((commit) => {
      const changed = changedSince(commit) ?? []
      if (changed.length === 0) return []
      const [first, ...more] = changed
      const what = more.length === 0 ? first : `${first} and ${more.length} more`
      return `${page} has figures of ${commit}. Since then ${what} changed. Measure again: ${command}`
    }),
  )
}

function* readPages() {
  for (const [pattern, command] of Object.entries(PAGES))
    for (const page of globSync(pattern, { cwd: ROOT }))
      yield { page, text: readFileSync(`${ROOT}${page}`, 'utf8'), command }
}

function changedSince(commit: string): string[] | undefined {
  try {
    const args = ['diff', '--name-only', commit, 'HEAD', '--', ...MEASURED.map((path) => `:(glob)${path}/**`)]
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
