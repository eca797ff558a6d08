import { markdownWords } from '@startgrid/cli/table.ts'
import { type Manners, SITUATIONS, type Situation } from './manners.ts'

/** What each framework showed, by its name as a reader knows it. */
export type MannersByFramework = ReadonlyMap<string, Manners>

const HEAD = `# Manners

The [contract](contract.md) allows several outcomes in these situations. This page says what each framework does. No client may rely
on it. \`pnpm conformance --manners\` runs the suite on every app, without NGINX in front, and writes this page. Two values: the outcome
depends on the route or the request. A dash: the situation does not arise, or the version of NGINX decides.
`

/** The union of what several apps of one framework showed. */
export function mergeManners(all: readonly Manners[]): Manners {
  const entries = situations().flatMap((situation) => {
    const shown = new Set(all.flatMap((manners) => manners[situation] ?? []))
    if (shown.size === 0) return []
    return [[situation, SITUATIONS[situation].manners.filter((manner) => shown.has(manner))] as const]
  })
  return Object.fromEntries(entries)
}

/** docs/manners.md: what differs, and what does not. */
export function formatManners(frameworks: MannersByFramework): string {
  const names = [...frameworks.keys()]
  const rows = situations().map((situation) => ({
    about: SITUATIONS[situation].about,
    cells: names.map((name) => describe(frameworks.get(name)?.[situation])),
  }))
  const [same, different] = [rows.filter(isUniform), rows.filter((row) => !isUniform(row))]
  return [
    HEAD,
    '## Where frameworks differ\n',
    markdownWords(
      ['situation', ...names],
      different.map(({ about, cells }) => [about, ...cells]),
    ),
    '\n## Where all do the same, though they need not\n',
    markdownWords(
      ['situation', 'all'],
      same.map(({ about, cells }) => [about, cells[0] ?? '']),
    ),
    '',
  ].join('\n')
}

interface Row {
  about: string
  cells: readonly string[]
}

function situations(): Situation[] {
  return Object.keys(SITUATIONS) as Situation[]
}

function describe(manners: readonly string[] | undefined): string {
  return manners === undefined ? '–' : manners.join(', ')
}

function isUniform({ cells }: Row): boolean {
  return new Set(cells).size === 1
}
