import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = import.meta.dirname

/** How NGINX runs the service, once `node bundle.ts` has written its configuration. */
export const ARGUMENTS = ['-p', ROOT, '-c', 'dist/nginx.conf', '-e', 'stderr']

/** What NGINX writes: its process id, temporary files, the access log. */
for (const name of ['run', 'logs']) mkdirSync(join(ROOT, name), { recursive: true })

const CURE =
  'install nginx and nginx-module-njs from nginx.org, or run it in a container: docker compose up --build'

/**
 * Why this machine's NGINX cannot run the service, in a sentence; undefined if it can.
 * @throws {Error} with what NGINX says about a configuration that is wrong
 */
export function findFault(): string | undefined {
  const { error, status, stderr } = spawnSync('nginx', ['-t', '-q', ...ARGUMENTS], { encoding: 'utf8' })
  if (error) return `There is no nginx on the PATH: ${CURE}.`
  if (status === 0) return undefined
  // No such module, no such directive, or a module without QuickJS.
  if (/ngx_http_js_module\.so|js_engine/.test(stderr))
    return `The nginx on the PATH cannot run JavaScript on QuickJS: ${CURE}.`
  throw new Error(stderr.trim())
}
