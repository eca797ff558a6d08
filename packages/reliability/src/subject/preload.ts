import { fileURLToPath } from 'node:url'
import type { App } from '@startgrid/grid/apps.ts'

/** The options that have an app's runtime load a file of `fixtures/preload/` first; the app does not know. */
export function preload({ runtime }: Pick<App, 'runtime'>, name: string): string[] {
  const file = fileURLToPath(new URL(`../../fixtures/preload/${name}.ts`, import.meta.url))
  return [runtime === 'bun' ? '--preload' : '--import', file]
}
