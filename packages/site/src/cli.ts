import { fileURLToPath } from 'node:url'
import { parseOptions, UsageError } from '@startgrid/cli/arguments.ts'
import { createSite } from './site.ts'

const HELP = `pnpm site [options]   the public pages, from docs/ and stored results

  --serve             shows them on http://localhost:8080 (or the next free port), and again after a change
  --base PATH         where they will be published (default /): /startgrid/
  --output DIR        default packages/site/dist
  --repository URL    of its files, for links to sources: https://git.example/startgrid/blob/main
  --help
`

async function main(args: readonly string[]): Promise<void> {
  const { help, serve, base, output, repository } = parseOptions(
    args,
    {
      serve: { type: 'boolean', default: false },
      base: { type: 'string', default: '/' },
      output: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
      repository: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
    'pnpm site',
  )
  if (help) {
    process.stdout.write(HELP)
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
