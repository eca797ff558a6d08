import { EjectError } from './eject-error.ts'
import type { AppEntry } from './picker.ts'

/**
 * The one app that a name such as `fastify/ssr` stands for.
 * @throws {EjectError} listing the right names
 */
export function chooseApp(name: string, apps: readonly AppEntry[]): AppEntry {
  const found = apps.filter((app) => app.name === name || app.framework === name || app.role === name)
  const [app, ...others] = found
  if (app === undefined) throw new EjectError(`There is no app '${name}'. These are:\n\n${listNames(apps)}\n`)
  if (others.length > 0)
    throw new EjectError(`'${name}' is ${found.length} apps. Name one of them:\n\n${listNames(found)}\n`)
  return app
}

/** A line per framework. */
function listNames(apps: readonly AppEntry[]): string {
  const rows = Map.groupBy(apps, ({ framework }) => framework).values()
  return [...rows].map((own) => `  ${own.map(({ name }) => name).join('  ')}`).join('\n')
}
