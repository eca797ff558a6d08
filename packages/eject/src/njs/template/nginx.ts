import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = import.meta.dirname

/** The arguments of NGINX. bundle.ts has to write the configuration first. */
export const ARGUMENTS = ['-p', ROOT, '-c', 'dist/nginx.conf', '-e', 'stderr']

/** While this file exists, readiness fails. */
export const DRAINING = join(ROOT, 'run/draining')

/** This machine has no NGINX that can run the service. The message says how to get one. */
export class MissingNginx extends Error {
  override name = 'MissingNginx'

  constructor(what: string) {
    super(
      `${what}: install nginx and nginx-module-njs from nginx.org, or run it in a container (docker compose up --build).`,
    )
  }
}

/**
 * Makes the directories that NGINX writes to, and lets it check its configuration.
 * @throws {MissingNginx}
 * @throws {Error} with what NGINX says, if the configuration is wrong
 */
export function checkNginx(): void {
  for (const name of ['run', 'logs']) mkdirSync(join(ROOT, name), { recursive: true })
  const { error, status, stderr } = spawnSync('nginx', ['-t', '-q', ...ARGUMENTS], { encoding: 'utf8' })
  if (error) throw new MissingNginx('There is no nginx on the PATH')
  if (status === 0) return
  // No such module, no such directive, or a module without QuickJS.
  if (/ngx_http_js_module\.so|js_engine/.test(stderr))
    throw new MissingNginx('The nginx on the PATH cannot run JavaScript on QuickJS')
  throw new Error(stderr.trim())
}
