import { realpath } from 'node:fs/promises'
import { findApps } from '@startgrid/grid/apps.ts'
import { currentDirectory, runCommand } from './command.ts'
import { EjectError } from './eject-error.ts'
import { OPTIONS } from './options/index.ts'
import { listApps, readSource } from './source.ts'
import { isInside } from './target.ts'
import { WORKSPACE } from './workspace.ts'

/** `pnpm eject fastify/ssr ../my-app` */

process.exitCode = await runCommand(process.argv.slice(2), {
  command: 'pnpm eject',
  separator: '',
  takesApp: true,
  defaultPath: '../my-app',
  from: currentDirectory(),
  apps: listApps(),
  options: OPTIONS,
  async readSource(name, signal) {
    const [app] = findApps(name)
    if (app === undefined) throw new EjectError(`There is no app '${name}'.`)
    return readSource(app, signal)
  },
  async checkTarget(target, path) {
    if (isInside(await realpath(WORKSPACE), target))
      throw new EjectError(`${path} is inside this repository: choose a directory outside of it.`)
  },
})
