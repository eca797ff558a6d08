import { OLDEST_NODE } from './files/start.ts'
import { listInstallScripts } from './install-scripts.ts'
import type { Project } from './project.ts'

/** The project's package.json. */
export function writeManifest(project: Project): string {
  const { name, description, runtime, hasBuild, dependencies, devDependencies } = project
  const page = {
    '#page/server.js': {
      types: './src/page/server.d.ts',
      ...(runtime === 'nginx' ? {} : { development: `./src/page/dev/${runtime}.ts` }),
      default: './dist/page/server.js',
    },
    '#page/*': './src/page/*',
  }
  const allowScripts = listInstallScripts(project)
  return toJson({
    name,
    private: true,
    type: 'module',
    description,
    engines: { node: `>=${OLDEST_NODE}` },
    imports: { ...(hasBuild ? page : {}), '#shared/*': './shared/*' },
    scripts: addArguments(project),
    ...(Object.keys(dependencies).length > 0 ? { dependencies } : {}),
    devDependencies,
    ...(Object.keys(allowScripts).length > 0 ? { allowScripts } : {}),
  })
}

/** The scripts that start the server, with the arguments of the options. */
function addArguments({ scripts, arguments: added }: Project): Record<string, string> {
  const words = ['', ...added, 'src/server.ts'].join(' ')
  return Object.fromEntries(
    Object.entries(scripts).map(([name, command]) => [name, command.replace(/ src\/server\.ts$/, words)]),
  )
}

export function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
