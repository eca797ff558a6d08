import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Binary, type Outcome, run } from './command.ts'

/** An NGINX unpacked from the distribution's packages. */
interface Unpacked {
  readonly binary: Binary
  readonly modules: string
  /** `name=version` of every package that was unpacked. */
  readonly packages: readonly string[]
}

const WANTED = ['nginx', 'libnginx-mod-http-js']
const STATUS = '/var/lib/dpkg/status'
/** Written last, so a directory without it is incomplete. */
const MANIFEST = 'packages.json'
const MINUTES = 60_000

/** Startgrid's directory for files that can be made again: in $XDG_CACHE_HOME, by default ~/.cache (XDG base directories). */
export function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'startgrid')
}

/** Whether this system has the tools of Debian and its descendants. */
export async function isDebianLike(): Promise<boolean> {
  if (!existsSync(STATUS)) return false
  const tools = await Promise.all(['apt-get', 'dpkg-deb'].map((file) => run({ file, args: ['--version'] })))
  return tools.every(({ code }) => code === 0)
}

/** The NGINX unpacked by an earlier run, if any. */
export async function unpackedNginx(cache: string): Promise<Unpacked | undefined> {
  const place = placeIn(cache)
  const names = await readdir(place).catch(() => [])
  for (const name of names.sort().reverse()) {
    const found = await readUnpacked(join(place, name))
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Downloads the distribution's NGINX, njs and those of their dependencies that are not installed, and unpacks them below
 * `cache`. Nothing is installed, no service starts, and root is not needed: apt checks the signatures, dpkg-deb unpacks.
 * @throws {Error} one sentence, if apt has no such packages or cannot fetch them
 */
export async function downloadNginx(cache: string): Promise<Unpacked> {
  const place = placeIn(cache)
  await mkdir(place, { recursive: true })
  const work = await mkdtemp(join(place, '.work-'))
  try {
    const packages = await fetchPackages(cache, work)
    const root = join(work, 'root')
    await unpack(join(work, 'debs'), root)
    await writeFile(join(root, MANIFEST), `${JSON.stringify(packages)}\n`)
    return await adopt(root, join(place, directoryName(packages)))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function placeIn(cache: string): string {
  return join(cache, 'nginx')
}

function directoryName(packages: readonly string[]): string {
  const versions = WANTED.map((name) => packages.find((pinned) => pinned.startsWith(`${name}=`)) ?? name)
  return `${process.arch}_${versions.join('_')}`.replaceAll(/[^A-Za-z0-9._=+-]/g, '-')
}

/** Uses this system's package lists. If they do not suffice, it downloads fresh ones into the cache. */
async function fetchPackages(cache: string, work: string): Promise<readonly string[]> {
  const status = join(work, 'status')
  await writeFile(status, withoutNginx(await readFile(STATUS, 'utf8')))
  const common = [
    ...option('Dir::State::status', status),
    ...option('Debug::NoLocking', 'true'),
    // Without this, apt as root warns that its helper user may not write here.
    ...(process.getuid?.() === 0 ? option('APT::Sandbox::User', 'root') : []),
  ]
  const first = await resolveAndFetch(common, work)
  if (typeof first !== 'string') return first
  const fresh = [...common, ...(await freshLists(cache, common))]
  const second = await resolveAndFetch(fresh, work)
  // 60 MB that are no longer needed.
  await rm(join(cache, 'apt'), { recursive: true, force: true })
  if (typeof second !== 'string') return second
  throw new Error(`apt cannot fetch ${WANTED.join(' and ')} (${second}).`)
}

/** The installed packages but NGINX's own, so that apt lists those and only what else is missing. */
function withoutNginx(status: string): string {
  const kept = status
    .split(/\n\n+/)
    .filter((entry) => !/^Package: (?:nginx|libnginx-mod)(?:-|$)/m.test(entry))
  return `${kept.join('\n\n').trimEnd()}\n`
}

function option(name: string, value: string): string[] {
  return ['-o', `${name}=${value}`]
}

/** The `name=version` list now in `work/debs`, or why not. */
async function resolveAndFetch(
  options: readonly string[],
  work: string,
): Promise<readonly string[] | string> {
  const args = [...options, '--simulate', '--no-install-recommends', 'install', ...WANTED]
  const plan = await run({ file: 'apt-get', args, env: { LC_ALL: 'C' } }, MINUTES)
  if (plan.code !== 0) return complaint(plan)
  const packages = planned(plan.stdout)
  // A second C library beside the running loader crashes at once.
  if (packages.some((name) => /^libc6[:=]/.test(name))) return 'they need a newer libc6; run apt-get upgrade'
  const debs = join(work, 'debs')
  await rm(debs, { recursive: true, force: true })
  await mkdir(debs)
  const fetched = await run(
    { file: 'apt-get', args: [...options, 'download', ...packages], cwd: debs, env: { LC_ALL: 'C' } },
    5 * MINUTES,
  )
  return fetched.code === 0 ? packages : complaint(fetched)
}

/** `Inst nginx [installed] (1.22.1-9 Debian:12 [amd64])` → `nginx=1.22.1-9`. */
function planned(plan: string): string[] {
  return [...plan.matchAll(/^Inst (\S+)(?: \[[^\]]*\])? \((\S+)/gm)].map(
    ([, name, version]) => `${name}=${version}`,
  )
}

function complaint({ stderr, stdout }: Outcome): string {
  const line = `${stderr}\n${stdout}`.split('\n').find((text) => /^E: /.test(text))
  return line?.slice(3).replace(/\.$/, '') ?? 'apt-get gave no reason'
}

/** Package lists of our own: slim images delete the system's, and only root may refresh those. */
async function freshLists(cache: string, common: readonly string[]): Promise<string[]> {
  const apt = join(cache, 'apt')
  await mkdir(join(apt, 'lists', 'partial'), { recursive: true })
  await mkdir(join(apt, 'cache', 'archives', 'partial'), { recursive: true })
  const options = [
    ...option('Dir::State::Lists', join(apt, 'lists')),
    ...option('Dir::Cache', join(apt, 'cache')),
  ]
  // The exit code says nothing: images hook clean-up commands into `update`, which fail without root.
  await run({ file: 'apt-get', args: [...common, ...options, 'update'] }, 5 * MINUTES)
  return options
}

async function unpack(debs: string, root: string): Promise<void> {
  for (const name of await readdir(debs)) {
    if (!name.endsWith('.deb')) continue
    const { code, stderr } = await run(
      { file: 'dpkg-deb', args: ['--extract', join(debs, name), root] },
      MINUTES,
    )
    if (code !== 0) throw new Error(`dpkg-deb cannot unpack ${name} (${stderr.trim()}).`)
  }
}

/** Renames a complete tree. If another run was faster, its tree is used. */
async function adopt(root: string, target: string): Promise<Unpacked> {
  await rename(root, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  const found = await readUnpacked(target)
  if (found === undefined) throw new Error(`The packages unpacked in ${target} contain no NGINX.`)
  return found
}

async function readUnpacked(root: string): Promise<Unpacked | undefined> {
  const manifest = await readFile(join(root, MANIFEST), 'utf8').catch(() => undefined)
  const path = join(root, 'usr/sbin/nginx')
  if (manifest === undefined || !existsSync(path)) return undefined
  const libraries = await libraryDirectories(root)
  const env: Record<string, string> = libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(':') }
  return {
    binary: { path, env },
    modules: join(root, 'usr/lib/nginx/modules'),
    packages: JSON.parse(manifest) as string[],
  }
}

/** Directories below `root` that hold shared libraries, `usr/lib/x86_64-linux-gnu` for one. */
async function libraryDirectories(root: string): Promise<string[]> {
  const found: string[] = []
  for (const base of ['usr/lib', 'lib']) {
    const names = await readdir(join(root, base)).catch(() => [])
    for (const name of ['.', ...names.filter((entry) => entry.endsWith('-linux-gnu'))]) {
      const directory = join(root, base, name)
      const files = await readdir(directory).catch(() => [])
      if (files.some((file) => /\.so(?:\.|$)/.test(file))) found.push(directory)
    }
  }
  return found
}
