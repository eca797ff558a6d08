import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { FRAMEWORKS, ROLES } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { readPinned } from '@startgrid/machine/provenance.ts'

/** `pnpm check acme`: all that a framework still needs, in the order in which one writes it. CONTRIBUTING.md has the same table. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

interface Part {
  /** Its file, for a framework that does not run inside NGINX. */
  file: string
  /** What the file must have. */
  has?: RegExp
}

const PARTS: readonly Part[] = [
  { file: 'package.json', has: /"#shared\/\*"/ },
  { file: 'tsconfig.json', has: /fixtures/ },
  ...['hello', 'status', 'ssr'].map((role) => ({
    file: `src/${role}.ts`,
    has: new RegExp(`export (?:const|function) ${role}\\b`),
  })),
  { file: 'src/app.ts', has: /export function createApp\b/ },
  { file: 'src/server.ts', has: /\bbegin\b/ },
  { file: 'fixtures/failing.ts', has: /export (?:async )?function createFailingApp\b/ },
  { file: 'fixtures/bare.ts', has: /export (?:async )?function withHeaders\b/ },
  { file: 'fixtures/next-route.ts', has: /\bwithReaderRoutes\b/ },
  { file: 'fixtures/second-week.ts', has: /\bsecondWeek\b/ },
  { file: 'add-a-route.md', has: /title="test\/greetings\.test\.ts"/ },
  { file: 'test/app.test.ts', has: /testing\/app\.ts/ },
  ...ROLES.map((role) => ({ file: `test/${role}.test.ts` })),
  { file: 'README.md', has: /^## Particular to /m },
]

/** An app inside NGINX has a starter of its own, and its tests are about that. */
const NGINX_PARTS: readonly Part[] = [
  ...PARTS.filter(
    ({ file }) => !/^(?:test\/app|src\/server|src\/hello|src\/s|fixtures\/(?:bare|failing))/.test(file),
  ),
  { file: 'test/app.test.ts' },
  { file: 'src/server.ts' },
  { file: 'fixtures/failing/src/server.ts' },
]

/** A sentence for each part that is missing. */
function findMissing(name: string): string[] {
  const entry = CATALOGUE.find((one) => one.name === name)
  const folder = `apps/${name}`
  return [
    ...(entry === undefined ? [`packages/grid/src/frameworks.ts has no entry '${name}': add one.`] : []),
    ...(entry?.package && !readPinned().has(entry.package)
      ? [`The catalog of pnpm-workspace.yaml has no ${entry.package}: add it, and pnpm install.`]
      : []),
    ...(entry?.runtime === 'nginx' ? NGINX_PARTS : PARTS).flatMap(({ file, has }) =>
      whyWrong(`${folder}/${file}`, has),
    ),
    ...(existsSync(`${ROOT}${folder}/src/server.ts`)
      ? whyWrong(`${folder}/src/server.ts`, new RegExp(`['\`]${name}\\b`))
      : []),
    ...whyWrong('docker-compose.yml', new RegExp(`^x-${name}:`, 'm'), 'pnpm generate'),
  ]
}

function whyWrong(file: string, has: RegExp | undefined, remedy?: string): string[] {
  if (!existsSync(`${ROOT}${file}`)) return [`${file} is missing.`]
  if (has === undefined || has.test(readFileSync(`${ROOT}${file}`, 'utf8'))) return []
  return [remedy === undefined ? `${file} lacks ${has.source}.` : `${file} does not have it: ${remedy}`]
}

const [name, extra] = process.argv.slice(2)
if (name === undefined || extra !== undefined || name.startsWith('-')) {
  process.stderr.write(`Name one framework: pnpm check acme. There are ${FRAMEWORKS.join(', ')}.\n`)
  process.exitCode = 2
} else {
  const missing = findMissing(name)
  process.stdout.write(
    missing.length === 0
      ? `${name} has all parts. Next: pnpm test ${name}\n`
      : `${name} needs:\n${missing.map((sentence, index) => `${String(index + 1).padStart(3)}. ${sentence}\n`).join('')}`,
  )
  process.exitCode = missing.length === 0 ? 0 : 1
}
