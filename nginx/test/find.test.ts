import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { loadModule } from '../src/find/find.ts'
import { nginx, skip } from './support/nginx.ts'

interface Printed {
  kind?: string
  version?: string
  description?: string
  error?: string
}

describe('with programs that only look like NGINX', () => {
  let directory: string

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'startgrid-find-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  /** A directory for the PATH with scripts of these names. */
  async function stub(name: string, scripts: Record<string, string>): Promise<string> {
    const path = join(directory, name)
    await mkdir(path)
    for (const [file, body] of Object.entries(scripts)) {
      await writeFile(join(path, file), `#!/bin/sh\n${body}\n`)
      await chmod(join(path, file), 0o755)
    }
    return path
  }

  /** In a process of its own, whose PATH has no apt unless the test puts them there. */
  async function find(path: string, options: object = {}, env: object = {}): Promise<Printed> {
    const script = join(import.meta.dirname, 'support', 'find.ts')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [script, JSON.stringify({ systemDirectories: [], ...options })],
      { env: { PATH: path, HOME: directory, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env } },
    )
    return JSON.parse(stdout) as Printed
  }

  const WITHOUT_NJS = 'case "$*" in *-V*) echo "nginx version: nginx/9.9.9" >&2 ;; *) exit 1 ;; esac'

  test('nothing at all: every reason, and one command that helps', async () => {
    const found = await find(await stub('empty', {}))
    assert.equal(found.kind, 'none')
    assert.match(
      found.description ?? '',
      /^No NGINX was found: no nginx on the PATH; no Debian packages on this system\. This would help: \S+ /,
    )
  })

  test('a program that is no NGINX is passed over', async () => {
    const path = await stub('other', { nginx: 'echo hello' })
    assert.match((await find(path)).description ?? '', /other\/nginx does not run;/)
  })

  test('an NGINX without njs is taken when nothing better is there', async () => {
    const found = await find(await stub('plain', { nginx: WITHOUT_NJS }))
    assert.deepEqual([found.kind, found.version], ['path', '9.9.9'])
    assert.match(found.description ?? '', /^NGINX 9\.9\.9 at \S+plain\/nginx \(installed; no njs\)$/)
  })

  test('directories that a minimal PATH leaves out', async () => {
    const hidden = await stub('hidden', { nginx: WITHOUT_NJS })
    const found = await find(await stub('minimal', {}), { systemDirectories: [hidden] })
    assert.match(found.description ?? '', /hidden\/nginx/)
  })

  test('a choice rules out everything else', async () => {
    const path = await stub('chosen', { nginx: WITHOUT_NJS })
    assert.equal((await find(path, { choice: 'download' })).kind, 'none')
    assert.equal((await find(path, {}, { STARTGRID_NGINX: 'download' })).kind, 'none')
    assert.equal((await find(path, { choice: 'path' }, { STARTGRID_NGINX: 'download' })).kind, 'path')
    assert.equal((await find('/nowhere', { choice: join(path, 'nginx') })).version, '9.9.9')
    const nowhere = await find(path, { choice: '/nowhere/nginx' })
    assert.match(nowhere.description ?? '', /found: \/nowhere\/nginx is not a program\. This/)
  })

  test('a choice that does not exist', async () => {
    const { error } = await find('/nowhere', {}, { STARTGRID_NGINX: 'docker' })
    assert.match(error ?? '', /^Error: STARTGRID_NGINX is "docker", but must be path, download or /)
  })

  test('no download: nothing is fetched', async () => {
    // Tools that leave a trace if they are asked to fetch anything.
    const trace = join(directory, 'trace')
    const fetch = `echo "$0 $@" >> ${trace}`
    const path = await stub('tools', { 'apt-get': fetch, 'dpkg-deb': fetch })
    const found = await find(path, { download: false })
    assert.match(found.description ?? '', /nothing was unpacked before, and downloading is switched off/)
    await assert.rejects(stat(trace), { code: 'ENOENT' })
  })
})

test('njs runs on the engine that responded', {
  skip: skip || (nginx?.njs === undefined && 'no njs'),
}, () => {
  assert.ok(nginx?.njs !== undefined)
  assert.match(nginx.njs.version, /^\d+\.\d+\.\d+$/)
  assert.equal(loadModule(nginx), `load_module "${nginx.njs.module}";`)
  assert.ok(nginx.describe().startsWith(`NGINX ${nginx.version} at /`))
})
