import type { App } from '@startgrid/grid/apps.ts'
import { type Created, createProject, type ProjectOptions } from './create-project.ts'
import { readSource } from './source.ts'

export interface EjectOptions extends Omit<ProjectOptions, 'source'> {
  app: App
}

/**
 * Makes a standalone project of one app of this repository.
 * @throws {EjectError} for errors that the person can fix, `AbortError` if aborted; after any error nothing is left behind
 */
export async function eject({ app, ...options }: EjectOptions): Promise<Created> {
  return createProject({ ...options, source: await readSource(app, options.signal) })
}
