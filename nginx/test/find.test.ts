import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findNginx } from '../src/find/find.ts'
import { makeDirectory } from './support.ts'

/** Programs that only look like NGINX. */

const directory = makeDirectory('startgrid-find-')

/** A directory for the PATH, with a script called `nginx`. */
async function stub(name: string, body: string): Promise<string> {
  const path = join(directory, name)
  await mkdir(path)
  await writeFile(join(path, 'nginx'), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return path
}

/** @returns the kind, and the description */
async function find(variables: Record<string, string>, systemDirectories: string[] = []) {
  const { PATH = '', STARTGRID_NGINX = '' } = process.env
  Object.assign(process.env, { STARTGRID_NGINX: '', ...variables })
  const found = await findNginx(systemDirectories).finally(() => {
    Object.assign(process.env, { PATH, STARTGRID_NGINX })
  })
  return [found.kind, found.describe()]
}

test('why there is none, and one command that helps', async () => {
  for (const [variables, reason] of [
    [{ PATH: '/nowhere' }, /^No NGINX was found: no nginx on the PATH\. This would help: .* install .*nginx/],
    [{ PATH: await stub('other', 'echo hello') }, /found: \S+other\/nginx does not run\. This/],
    [{ STARTGRID_NGINX: '/nowhere/nginx' }, /found: \/nowhere\/nginx is not a program\. This/],
  ] as const) {
    const [kind, text = ''] = await find(variables)
    assert.equal(kind, 'none')
    assert.match(text, reason)
  }
})

test('an NGINX without njs is taken when nothing better is there; a choice rules out everything else', async () => {
  const path = await stub(
    'plain',
    'echo "nginx version: nginx/9.9.9" >&2; case "$*" in *-V*) ;; *) exit 1 ;; esac',
  )
  const taken = ['path', `NGINX 9.9.9 at ${path}/nginx (no njs)`]
  assert.deepEqual(await find({ PATH: path }), taken)
  assert.deepEqual(await find({ PATH: '/nowhere' }, [path]), taken) // a minimal PATH
  assert.deepEqual(await find({ STARTGRID_NGINX: join(path, 'nginx') }), taken)
})
