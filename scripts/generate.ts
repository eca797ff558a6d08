import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { flag, readCommandLine } from '@startgrid/cli/options.ts'
import { markdownTable } from '@startgrid/cli/table.ts'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { PORT_PREFIX, publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { CATALOGUE, type Framework } from '@startgrid/grid/frameworks.ts'
import { readPinned } from '@startgrid/machine/provenance.ts'

/**
 * `pnpm generate`: writes what depends on the catalogue of frameworks. A part of a file is between two lines with its name: `NAME: written by
 * pnpm generate` and `end of NAME`. With `--check` it writes nothing, and exits with 1 if something is out of date.
 */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** The generated parts of each file. */
const FILES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docker-compose.yml': { images: composeImages, ports: composePorts, apps: composeServices },
  '.env': { profiles: () => `COMPOSE_PROFILES=${CATALOGUE.map(({ name }) => name).join(',')}` },
  'docs/choosing-a-framework.md': { frameworks: frameworksTable },
}

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

function frameworksTable(): string {
  const versions = readPinned()
  const runtimes = { node: 'Node', bun: 'Bun', nginx: 'NGINX' } as const
  const columns = ['name', 'framework', 'version', 'runs on', 'cannot'].map((heading) => ({
    heading,
    align: 'left' as const,
    priority: 0,
  }))
  const rows = CATALOGUE.map((one) => ({
    tone: 'plain' as const,
    cells: [
      `[${one.name}](../apps/${one.name})`,
      `[${one.title}](${one.docs})`,
      one.package === null ? "the machine's" : (versions.get(one.package) ?? 'unknown'),
      runtimes[one.runtime],
      one.absent.map(({ what }) => what).join('; '),
    ],
  }))
  return `\n${markdownTable({ columns, rows }, 0)}\n`
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
  return stale
}

const {
  values: { check },
} = readCommandLine(process.argv.slice(2), { check: flag('writes nothing') }, 'pnpm generate')
const stale = findStale()
const names = [...stale.keys()].join(', ')
if (!check) {
  for (const [file, text] of stale) writeFileSync(`${ROOT}${file}`, text)
  process.stdout.write(stale.size > 0 ? `Written: ${names}.\n` : 'Nothing has changed.\n')
} else if (stale.size > 0) {
  process.stderr.write(`Not as the catalogue of frameworks has it: ${names}. Run pnpm generate.\n`)
  process.exitCode = 1
}
