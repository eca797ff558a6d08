import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { runCommand } from '@startgrid/eject/command.ts'

/** `npm create startgrid@latest fastify/ssr my-app` */

process.exitCode = await runCommand(process.argv.slice(2), {
  command: 'npm create startgrid@latest',
  example: 'npm create startgrid@latest fastify/ssr my-app -- --with nginx,kubernetes',
  defaultPath: 'my-app',
  readSource() {
    const bytes = readFileSync(new URL('source.json.br', import.meta.url))
    return JSON.parse(brotliDecompressSync(bytes).toString())
  },
})
