import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { App } from '@startgrid/grid/apps.ts'
import type { Startable } from '@startgrid/grid/launcher.ts'

const FIXTURES_DIR = fileURLToPath(new URL('../../fixtures/', import.meta.url))

/**
 * The app with routes that fail, each in its own way. FIXTURE_ROLE must say which role it has.
 * @throws {Error} naming the file to add, if nobody has written these routes for its framework
 */
export function failingApp({ framework, runtime, name }: App): Startable {
  const folder = runtime === 'node' ? 'node' : framework
  const role = runtime === 'node' ? framework : 'failing'
  if (!existsSync(`${FIXTURES_DIR}${folder}/src/${role}.ts`))
    throw new Error(
      `The failing routes of ${framework} are missing: add packages/reliability/fixtures/${folder}/src/${role}.ts.`,
    )
  return { name: `${name} with failing routes`, runtime, role, directory: `${FIXTURES_DIR}${folder}` }
}
