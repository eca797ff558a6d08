import { parse } from 'yaml'
import type { App } from './choices.ts'

type Versions = Readonly<Record<string, string>>

/** For every project. Biome is exact, as its documentation advises: another version may format in another way. */
const TOOLS = ['@biomejs/biome', 'typescript']

interface Parts {
  /** Of this repository. */
  files: Readonly<Record<string, string>>
  /** The files of the project. */
  project: ReadonlyMap<string, string>
  app: App
  name: string
  catalog: Versions
  /** `node src/server.ts` */
  command: string
}

/** The package.json of a project. */
export function makeManifest({ files, project, app, name, catalog, command }: Parts) {
  const { framework, role, runtime } = app
  const isBun = runtime === 'bun'
  const isInNginx = runtime === 'nginx'
  const hasPage = role === 'ssr'
  const build = [...(hasPage ? ['vite build shared/page'] : []), ...(isInNginx ? ['node build.ts'] : [])]
  const page = `${isBun ? '--config=shared/page/bunfig.toml ' : ''}--conditions=development` // Vite serves it as it is now
  const watch = hasPage ? `--watch ${page}` : '--watch'
  const manifests = ['packages/shared', `apps/${framework}`].map((path) =>
    JSON.parse(files[`${path}/package.json`] ?? ''),
  )
  const known = (field: 'dependencies' | 'devDependencies') =>
    manifests.flatMap((manifest) => Object.keys(manifest[field] ?? {}))
  const texts = [...project].filter(([path]) => !path.startsWith('recipes/')).map(([, text]) => text)
  /** Packages of the page, of recipes and of tests are in the app's manifest as well: kept is what a file names. */
  const isUsed = (one: string) => texts.some((text) => text.includes(`'${one}'`) || text.includes(`'${one}/`))
  const ofTelemetry = Object.keys(catalog).filter((one) => one.startsWith('@opentelemetry/'))
  const dependencies = new Set([...known('dependencies'), ...ofTelemetry].filter(isUsed))
  const isTypeOfUsed = (one: string) => one.startsWith('@types/') && isUsed(typedBy(one))
  const development = known('devDependencies').filter((one) => isUsed(one) || isTypeOfUsed(one))
  const runtimeTypes = isBun ? ['bun', '@types/bun'] : ['@types/node']
  const devDependencies = [...TOOLS, ...runtimeTypes, ...development].filter((one) => !dependencies.has(one))
  const settings = project.get('pnpm-workspace.yaml')
  const { scripts } = JSON.parse(files[`apps/${framework}/package.json`] ?? '')
  const others = Object.entries<string>(scripts).filter(([script]) => script.startsWith('start:'))
  return {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=24.9' },
    imports: {
      ...(hasPage && {
        '#shared/page/server.js': {
          types: './shared/page/server.d.ts',
          ...(!isInNginx && { development: `./shared/page/dev.ts` }),
          default: './dist/page/server.js',
        },
      }),
      '#shared/*': './shared/*',
    },
    scripts: {
      start: command,
      ...Object.fromEntries(others.map(([script, line]) => [script, line.replace('exec ', '')])),
      dev: isInNginx ? 'npm run build && npm start' : command.replace(runtime, `${runtime} ${watch}`),
      ...(build.length > 0 && { build: build.join(' && ') }),
      test: isBun ? 'bun test --timeout=60000' : 'node --test "test/**/*.test.ts"',
      typecheck: hasPage ? 'tsc && tsc --project shared/page' : 'tsc',
      lint: 'biome check',
    },
    dependencies: versions(dependencies, catalog),
    devDependencies: versions(new Set(devDependencies), catalog),
    ...(settings !== undefined && { allowScripts: parse(settings).allowBuilds }), // of npm, as pnpm has them
  }
}

/** `@types/koa__multer` is about `@koa/multer`. */
function typedBy(types: string): string {
  const name = types.slice('@types/'.length)
  return name.includes('__') ? `@${name.replace('__', '/')}` : name
}

function versions(names: Iterable<string>, catalog: Versions): Versions {
  const range = (name: string) => (name === '@biomejs/biome' ? '' : '^') + catalog[name]
  return Object.fromEntries([...names].sort().map((name) => [name, range(name)]))
}
