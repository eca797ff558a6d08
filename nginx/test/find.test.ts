import assert from 'node:assert/strict'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isDebianLike } from '../src/find/download.ts'
import { type FindOptions, findNginx } from '../src/find/find.ts'
import { startNginx } from '../src/run/instance.ts'
import { ANY, addressOf, frontOf, makeDirectory, request } from './support.ts'

/** Finds one with these variables in the environment. */
async function findWith(variables: Record<string, string>, options?: FindOptions) {
  const { PATH = '', XDG_CACHE_HOME = '', STARTGRID_NGINX = '' } = process.env
  Object.assign(process.env, variables)
  return findNginx(options).finally(() => {
    Object.assign(process.env, { PATH, XDG_CACHE_HOME, STARTGRID_NGINX })
  })
}

describe('with programs that only look like NGINX', () => {
  const directory = makeDirectory('startgrid-find-')

  /** A directory for the PATH with scripts of these names. */
  async function stub(name: string, scripts: Record<string, string>): Promise<string> {
    const path = join(directory, name)
    await mkdir(path)
    for (const [file, body] of Object.entries(scripts))
      await writeFile(join(path, file), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
    return path
  }

  /** With a PATH that has no apt unless the test puts one there. @returns the kind, and the description */
  async function find(PATH: string, STARTGRID_NGINX = '', options: FindOptions = {}) {
    const variables = { PATH, XDG_CACHE_HOME: directory, STARTGRID_NGINX }
    const found = await findWith(variables, { systemDirectories: [], ...options })
    return [found.kind, found.describe()]
  }

  const WITHOUT_NJS = 'case "$*" in *-V*) echo "nginx version: nginx/9.9.9" >&2 ;; *) exit 1 ;; esac'

  test('every reason why there is none, and one command that helps', async () => {
    const reasons = 'no nginx on the PATH; no Debian packages on this system. This would help: '
    const [kind, text = ''] = await find(await stub('empty', {}))
    assert.deepEqual([kind, text.startsWith(`No NGINX was found: ${reasons}`)], ['none', true])
    const [, other] = await find(await stub('other', { nginx: 'echo hello' }))
    assert.match(other ?? '', /other\/nginx does not run;/)
    const [, nowhere] = await find('/nowhere', '/nowhere/nginx')
    assert.match(nowhere ?? '', /found: \/nowhere\/nginx is not a program\. This/)
  })

  test('an NGINX without njs is taken when nothing better is there; a choice rules out everything else', async () => {
    const path = await stub('plain', { nginx: WITHOUT_NJS })
    const taken = ['path', `NGINX 9.9.9 at ${path}/nginx (installed; no njs)`]
    assert.deepEqual(await find(path), taken)
    assert.deepEqual(await find('/nowhere', '', { systemDirectories: [path] }), taken) // a minimal PATH
    assert.deepEqual(await find(path, 'path'), taken)
    assert.deepEqual(await find('/nowhere', join(path, 'nginx')), taken)
    assert.equal((await find(path, 'download'))[0], 'none')
    const message =
      'STARTGRID_NGINX is "docker", but must be path, download or the absolute path of an nginx.'
    await assert.rejects(find('/nowhere', 'docker'), { message })
  })

  test('no download: nothing is fetched', async () => {
    // Tools that leave a trace if they are asked to fetch anything.
    const trace = join(directory, 'trace')
    const fetch = `echo "$0 $@" >> ${trace}`
    const path = await stub('tools', { 'apt-get': fetch, 'dpkg-deb': fetch })
    const [, text] = await find(path, '', { download: false })
    assert.match(text ?? '', /nothing was unpacked before, and downloading is switched off/)
    await assert.rejects(stat(trace), { code: 'ENOENT' })
  })
})

test("full: download: the distribution's packages, unpacked and not installed", {
  skip: (await isDebianLike()) ? false : 'not a Debian-like system: there is nothing to unpack',
  timeout: 600_000,
}, async (context) => {
  const cache = makeDirectory('startgrid-cache-')
  const find = (options?: FindOptions) =>
    findWith({ XDG_CACHE_HOME: cache, STARTGRID_NGINX: 'download' }, options)
  const before = await stat('/var/lib/dpkg/status')
  const found = await find()
  if (found.kind === 'none') return context.skip(`${found.describe()} (a Debian mirror is needed once)`)
  assert.equal(found.kind, 'download')
  assert.ok(found.binary.path.startsWith(cache))
  assert.ok(found.njs?.module?.startsWith(cache))
  assert.match(found.describe(), /unpacked from the system's packages; njs /)
  assert.equal((await stat('/var/lib/dpkg/status')).mtimeMs, before.mtimeMs)

  const instance = await startNginx(found, { fronts: [frontOf({ ...ANY, port: 9 })] })
  assert.equal((await request(addressOf(instance), '/ceiling')).body.toString(), 'Hello World!')
  await instance.stop()

  // What is there already needs no download.
  assert.equal((await find({ download: false })).kind, 'download')
})
