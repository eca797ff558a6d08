import { fileURLToPath } from 'node:url'
import type { Startable } from '@startgrid/grid/launcher.ts'
import type { App } from '@startgrid/grid/matrix.ts'

const FIXTURES_DIR = fileURLToPath(new URL('../../fixtures/', import.meta.url))

/** The app with routes that fail, each in its own way. FIXTURE_ROLE must say which role it has. */
export function failingApp({ framework, name }: App): Startable {
  const own = framework === 'bun' || framework === 'njs'
  return {
    name: `${name} with failing routes`,
    framework,
    role: own ? 'failing' : framework,
    directory: `${FIXTURES_DIR}${own ? framework : 'node'}`,
  }
}
