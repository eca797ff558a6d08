import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { isDue } from '@startgrid/cli/test-run.ts'
import { isDebianLike } from '../src/find/download.ts'
import { findNginx, loadModule } from '../src/find/find.ts'
import { startNginx } from '../src/run/instance.ts'
import { nginx, skip } from './support/nginx.ts'
import { request } from './support/raw.ts'

interface Printed {
  kind?: string
  version?: string
  description?: string
  error?: string
}

// Before the first suite: when that ends while the file awaits, node:test takes the file for finished.
const debian = (await isDebianLike()) ? false : 'not a Debian-like system: there is nothing to unpack'

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

  test('the first on the PATH that runs', async () => {
    const broken = await stub('broken', { nginx: 'exit 1' })
    const works = await stub('works', { nginx: WITHOUT_NJS })
    assert.match((await find(`${broken}:${works}`)).description ?? '', /works\/nginx/)
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

if (isDue('NGINX from packages', 4))
  test("download: the distribution's packages, unpacked and not installed", {
    skip: debian,
  }, async (context) => {
    const cache = await mkdtemp(join(tmpdir(), 'startgrid-cache-'))
    const env = { XDG_CACHE_HOME: cache }
    const before = await stat('/var/lib/dpkg/status')
    try {
      const found = await findNginx({ choice: 'download', env })
      if (found.kind === 'none') return context.skip(`${found.describe()} (a Debian mirror is needed once)`)
      assert.equal(found.kind, 'download')
      assert.ok(found.binary.path.startsWith(cache))
      assert.ok(found.njs?.module?.startsWith(cache))
      assert.match(found.describe(), /unpacked from the system's packages; njs /)
      assert.equal((await stat('/var/lib/dpkg/status')).mtimeMs, before.mtimeMs)

      const listen = { host: '127.0.0.1', port: 0 }
      const upstream = { host: '127.0.0.1', port: 9 }
      const instance = await startNginx(found, {
        fronts: [{ name: 'a', topology: 'nginx', listen, upstream }],
      })
      assert.equal(
        (await request(instance.addresses[0] ?? listen, '/ceiling')).body.toString(),
        'Hello World!',
      )
      await instance.stop()

      // What is there already needs no download.
      assert.equal((await findNginx({ choice: 'download', download: false, env })).kind, 'download')
    } finally {
      await rm(cache, { recursive: true, force: true })
    }
  })
