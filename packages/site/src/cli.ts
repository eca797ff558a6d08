import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { flag, helpOf, readCommandLine, text } from '@startgrid/cli/options.ts'
import { createSite } from './site.ts'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))

const OPTIONS = {
  serve: flag('shows them on http://localhost:8080 (or the next free port), and again after a change'),
  base: text('PATH', 'where they will be published (default /): /startgrid/'),
  output: text('DIR', 'default packages/site/dist'),
  repository: text('URL', 'of its files, for links to sources: https://git.example/startgrid/blob/main'),
  help: flag('this list'),
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = readCommandLine(args, OPTIONS, 'pnpm site')
  const { help, serve, base = '/', output = DIST, repository } = values
  if (help) {
    process.stdout.write(
      `pnpm site [options]   the public pages, from docs/ and stored results\n\n${helpOf(OPTIONS)}\n`,
    )
    return
  }
  if (!/^\/(?:.*\/)?$/.test(base)) throw new UsageError(`--base ${base} has to begin and end with a slash.`)
  const site = createSite({ output, base, repository, runMode: serve ? 'serve' : 'build' })
  if (serve) {
    process.once('SIGINT', () => process.exit()) // open connections of browsers would keep it
    await site.init()
    await site.watch()
    await site.serve(8080)
    return
  }
  await site.write()
  process.stdout.write(`${output}\n`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
