import { currentDirectory, runCommand } from '@startgrid/eject/command.ts'
import { readBundle } from './bundle.ts'

/** `npm create startgrid@latest my-app` */

const { apps, options, sources } = readBundle(new URL('projects.json.br', import.meta.url))

process.exitCode = await runCommand(process.argv.slice(2), {
  command: 'npm create startgrid@latest',
  // npm keeps options before `--` for itself.
  separator: '-- ',
  takesApp: false,
  defaultPath: 'my-app',
  from: currentDirectory(),
  apps,
  options,
  async readSource(name) {
    const source = sources[name]
    if (source === undefined) throw new Error(`The package lacks ${name}.`)
    return source
  },
})
