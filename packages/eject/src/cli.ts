import { runCommand } from './command.ts'
import { ROOT, readSource } from './source.ts'

/** `pnpm eject fastify/ssr ../my-app` */

process.exitCode = await runCommand(process.argv.slice(2), {
  command: 'pnpm eject',
  example: 'pnpm eject fastify/ssr ../my-app --with nginx,kubernetes',
  defaultPath: '../my-app',
  outsideOf: ROOT,
  readSource,
})
