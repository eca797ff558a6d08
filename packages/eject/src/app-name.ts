import { APPS, type App, FRAMEWORKS, findApps, UnknownName } from '@startgrid/grid/matrix.ts'
import { EjectError } from './eject-error.ts'

/**
 * The one app that a name such as `fastify/ssr` stands for.
 * @throws {EjectError} listing the right names
 */
export function findApp(name: string): App {
  const apps = findAll(name)
  const [app, ...others] = apps
  if (app === undefined) {
    const rows = FRAMEWORKS.map((framework) => listNames(APPS.filter((one) => one.framework === framework)))
    throw new EjectError(`There is no app '${name}'. These are:\n\n  ${rows.join('\n  ')}\n`)
  }
  if (others.length > 0)
    throw new EjectError(`'${name}' is ${apps.length} apps. Name one of them:\n\n  ${listNames(apps)}\n`)
  return app
}

function findAll(name: string): App[] {
  try {
    return findApps(name)
  } catch (error) {
    if (error instanceof UnknownName) return []
    throw error
  }
}

function listNames(apps: readonly App[]): string {
  return apps.map(({ name }) => name).join('  ')
}
