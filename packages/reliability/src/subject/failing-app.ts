import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { App } from '@startgrid/grid/apps.ts'
import type { Startable } from '@startgrid/grid/launcher.ts'

const STARTER = fileURLToPath(new URL('../../fixtures/failing/', import.meta.url))

/**
 * The app with routes that fail, each in its own way. FIXTURE_ROLE must say which role it has.
 * @throws {Error} naming the file to add, if nobody has written these routes for its framework
 */
export function failingApp({ framework, runtime, name, directory }: App): Startable {
  if (!existsSync(`${directory}/fixtures/failing.ts`))
    throw new Error(
      `The failing routes of ${framework} are missing: add apps/${framework}/fixtures/failing.ts.`,
    )
  return { name: `${name} with failing routes`, runtime, role: framework, directory: STARTER }
}
