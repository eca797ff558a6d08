import { existsSync, globSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseOptions } from '@startgrid/cli/arguments.ts'
import { markdownTable } from '@startgrid/cli/table.ts'
import { APPS, type App, ROLES } from '@startgrid/grid/apps.ts'
import { COMPOSE_TOPOLOGIES, PORT_PREFIX, publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { CATALOGUE, type Framework, SECOND_WEEK } from '@startgrid/grid/frameworks.ts'
import { readPinned } from '@startgrid/machine/provenance.ts'
import { claimsPart, extraCostPart, firstPicture, machinesPart } from '@startgrid/site/generated.ts'

/**
 * `pnpm generate`: writes what depends on the catalogue of frameworks, and what repeats stored results. A part of a file is between two lines with its name: `NAME: written by
 * pnpm generate` and `end of NAME`. With `--check` it writes nothing, and exits with 1 if something is out of
 * date.
 */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** The generated parts of each file. */
const FILES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docker-compose.yml': { images: composeImages, ports: composePorts, apps: composeServices },
  '.env': { profiles: () => `COMPOSE_PROFILES=${CATALOGUE.map(({ name }) => name).join(',')}` },
  'docker/README.md': { ports: portsTable },
  'docs/choosing-a-framework.md': {
    frameworks: frameworksTable,
    lines: linesTable,
    dependencies: dependenciesTable,
  },
  'docs/contract.md': { capabilities: capabilitiesTable },
  'docs/add-a-route.md': { pages: recipePages },
  'README.md': {
    frameworks: frameworksSentence,
    'extra cost': extraCostPart,
    claims: claimsPart,
  },
  'docs/results/README.md': { machines: machinesPart },
  'docs/second-week.md': { cells: secondWeekTable },
}

const PICTURE = 'docs/extra-cost.svg'

/** The published ports begin with this, so that another project's can begin with something else. */
const PREFIX = `\${STARTGRID_PORTS:-${PORT_PREFIX}}`

function composeImages(): string {
  return CATALOGUE.map(
    (framework) => `x-${framework.name}: &${framework.name}
  <<: *${framework.runtime === 'nginx' ? 'contained' : 'app'}
  image: \${STARTGRID_REGISTRY:-startgrid}/${framework.name}:\${STARTGRID_TAG:-latest}
  build: { context: ., dockerfile: docker/Dockerfile, ${buildOf(framework)} }
  profiles: [${framework.name}]${framework.runtime === 'nginx' ? '\n  tmpfs: [/tmp]' : ''}`,
  ).join('\n')
}

function buildOf({ name, runtime }: Framework): string {
  return runtime === 'nginx' ? `target: ${name}` : `target: ${runtime}, args: { FRAMEWORK: ${name} }`
}

function composePorts(): string {
  return APPS.map((app) => {
    const port = publishedPort(app, 'nginx')
    return `      - 127.0.0.1:${PREFIX}${port % 1000}:${port} # ${serviceName(app)}`
  }).join('\n')
}

function composeServices(): string {
  return CATALOGUE.map(({ name }) =>
    APPS.filter(({ framework }) => framework === name)
      .map(
        (app) => `  ${serviceName(app)}:
    <<: *${name}
    command: [${commandOf(app).join(', ')}]
    ports: ["127.0.0.1:${PREFIX}${publishedPort(app, 'direct') % 1000}:3000"]`,
      )
      .join('\n'),
  ).join('\n\n')
}

/** The command of an app in its image. */
function commandOf({ runtime, role }: App): string[] {
  return runtime === 'nginx'
    ? ['nginx', '-e', 'stderr', '-c', `/etc/nginx/${role}.conf`]
    : [runtime, 'src/server.ts', role]
}

function portsTable(): string {
  const columns = COMPOSE_TOPOLOGIES.flatMap((topology) => ROLES.map((role) => ({ topology, role })))
  return toTable(
    ['', ...columns.map(({ topology, role }) => (topology === 'nginx' ? `${role}, NGINX` : role))],
    CATALOGUE.map(({ name }) => [
      name,
      ...columns.map(({ topology, role }) => String(publishedPort({ framework: name, role }, topology))),
    ]),
  )
}

function frameworksTable(): string {
  const versions = readPinned()
  const runtimes = { node: 'Node', bun: 'Bun', nginx: 'NGINX' } as const
  return toTable(
    ['name', 'framework', 'version', 'runs on', 'cannot'],
    CATALOGUE.map((one) => [
      `[${one.name}](../apps/${one.name})`,
      `[${one.title}](${one.docs})`,
      one.package === null ? "the machine's" : (versions.get(one.package) ?? 'unknown'),
      runtimes[one.runtime],
      one.absent.map(({ what }) => what).join('; '),
    ]),
  )
}

function frameworksSentence(): string {
  const titles = CATALOGUE.map(({ title }) => title)
  const list = new Intl.ListFormat('en').format(titles)
  return `\nThe same three servers (hello world, a React page, a status route), written with ${list}.\n`
}

/** The length of each app, the longest first. */
function linesTable(): string {
  const rows = CATALOGUE.filter(({ runtime }) => runtime !== 'nginx').map(({ name }) => {
    const files = globSync(`apps/${name}/src/**/*.ts`, { cwd: ROOT })
    const own = files.filter((file) => !/\/src\/(?:hello|server|ssr|status)\.ts$/.test(file))
    return { name, app: countLines(own), all: countLines(files) }
  })
  return toTable(
    ['', 'lines of app and plugins', 'all of `src/`, three apps'],
    rows.sort((a, b) => b.app - a.app).map(({ name, app, all }) => [name, String(app), String(all)]),
  )
}

function countLines(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1, 0)
}

/** What each app installs in production, without our own packages. */
function dependenciesTable(): string {
  return toTable(
    ['', 'packages that the app names', 'packages installed'],
    CATALOGUE.filter(({ runtime }) => runtime !== 'nginx').map(({ name }) => {
      const directory = `${ROOT}apps/${name}`
      const named = Object.keys(readManifest(directory).dependencies ?? {}).filter(isForeign)
      return [name, named.join(', '), String(findInstalled(directory).size)]
    }),
  )
}

interface Manifest {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

function isForeign(name: string): boolean {
  return !name.startsWith('@startgrid/')
}

/** The folders of all packages below a package. pnpm puts the dependencies of `NAME` beside it, in the same `node_modules`. */
function findInstalled(
  directory: string,
  found: Set<string> = new Set(),
  seen: Set<string> = new Set(),
): Set<string> {
  if (seen.has(directory)) return found
  seen.add(directory)
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(directory)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const place = findPlace(directory, name)
    if (place === undefined) continue // optional, and not for this machine
    if (isForeign(name)) found.add(place)
    findInstalled(place, found, seen)
  }
  return found
}

function findPlace(directory: string, name: string): string | undefined {
  for (let parent = directory; parent !== dirname(parent); parent = dirname(parent)) {
    const place = join(parent, 'node_modules', name)
    if (existsSync(place)) return realpathSync(place)
  }
  return undefined
}

function capabilitiesTable(): string {
  return toTable(
    ['app', 'capability', 'why'],
    CATALOGUE.flatMap(({ name, absent }) =>
      absent.map(({ role, capability, what, why }) => [`${name}/${role}`, `\`${capability}\`: ${what}`, why]),
    ),
  )
}

function toTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = headings.map((heading) => ({ heading, align: 'left' as const, priority: 0 }))
  return `\n${markdownTable({ columns, rows: rows.map((cells) => ({ tone: 'plain', cells })) }, 0)}\n`
}

/** A reason that several cells have is one note. */
function secondWeekTable(): string {
  const reasons = [
    ...new Set(CATALOGUE.flatMap(({ secondWeek = {} }) => Object.values(secondWeek).map(({ why }) => why))),
  ]
  const rows = SECOND_WEEK.map((feature) => [
    feature,
    ...CATALOGUE.map(({ secondWeek }) => {
      const cell = secondWeek?.[feature]
      return cell === undefined ? '✓' : `${cell.kind} [${reasons.indexOf(cell.why) + 1}]`
    }),
  ])
  const table = toTable(['feature', ...CATALOGUE.map(({ name }) => name)], rows)
  const notes = reasons.map((why, index) => `${index + 1}. ${why}`).join('\n')
  return `${table}\nThe notes say why a cell is △ (there, but by other means or not whole) or absent.\n\n${notes}\n`
}

/** A link to the recipes of each framework. */
function recipePages(): string {
  const links = CATALOGUE.map(({ name, title }) => `- [${title}](../apps/${name}/add-a-route.md)`)
  return `\n${links.join('\n')}\n`
}

/** @throws {Error} naming the file, if it has no place for the part */
function replacePart(file: string, text: string, name: string, part: string): string {
  const place = new RegExp(
    `^(.*\\b${name}: written by pnpm generate\\b.*\\n)[\\s\\S]*?^(?=.*\\bend of ${name}\\b)`,
    'm',
  )
  if (!place.test(text))
    throw new Error(
      `${file} has no lines '${name}: written by pnpm generate' and 'end of ${name}': add them.`,
    )
  return text.replace(place, (_, begin: string) => `${begin}${part}\n`)
}

/** Files that are out of date, with their new content. */
function findStale(): Map<string, string> {
  const stale = new Map<string, string>()
  for (const [file, parts] of Object.entries(FILES)) {
    const before = readFileSync(`${ROOT}${file}`, 'utf8')
    const after = Object.entries(parts).reduce(
      (text, [name, write]) => replacePart(file, text, name, write()),
      before,
    )
    if (after !== before) stale.set(file, after)
  }
  const picture = firstPicture()
  if (!existsSync(ROOT + PICTURE) || readFileSync(ROOT + PICTURE, 'utf8') !== picture)
    stale.set(PICTURE, picture)
  return stale
}

const { check } = parseOptions(
  process.argv.slice(2),
  { check: { type: 'boolean', default: false } },
  'pnpm generate',
)
const stale = findStale()
if (check && stale.size > 0) {
  process.stderr.write(
    `Not as the catalogue of frameworks and the stored results have it: ${[...stale.keys()].join(', ')}. Run pnpm generate.\n`,
  )
  process.exitCode = 1
}
if (!check) {
  for (const [file, text] of stale) writeFileSync(`${ROOT}${file}`, text)
  process.stdout.write(
    stale.size > 0 ? `Written: ${[...stale.keys()].join(', ')}.\n` : 'Nothing has changed.\n',
  )
}
