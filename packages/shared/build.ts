/**
 * Builds the page into dist/: hashed files for the browser in assets/, page/server.js and page/manifest.json.
 *
 *     node build.ts            once
 *     node build.ts --watch    again after every change of src/page
 */
import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, readdir, readFile, rename, rm, watch, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'
import type { Asset } from './src/page/assets.ts'

const ROOT = import.meta.dirname
const PAGE = join(ROOT, 'src/page')
const DIST = join(ROOT, 'dist')

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const COMMON: BuildOptions = {
  bundle: true,
  write: false,
  format: 'esm',
  jsx: 'automatic',
  charset: 'utf8',
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
}

if (process.argv.includes('--watch')) await rebuildOnChange()
else await buildAll(swap)

/** Builds beside dist/ and then publishes, so that whoever reads dist/ meanwhile finds all of the old or all of the new. */
async function buildAll(publish: (staging: string) => Promise<void>): Promise<void> {
  const staging = join(ROOT, '.cache', String(process.pid))
  try {
    await buildInto(staging)
    await publish(staging)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function buildInto(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true })
  for (const name of ['assets', 'page']) await mkdir(join(dir, name), { recursive: true })
  const icon = await writeAsset(dir, 'favicon.svg', await readFile(join(PAGE, 'favicon.svg')))
  const style = await writeAsset(
    dir,
    'page.css',
    await bundle({ entryPoints: [join(PAGE, 'page.css')], minify: true }),
  )
  const urls = { PAGE_ICON: JSON.stringify(icon.url), PAGE_STYLESHEET: JSON.stringify(style.url) }
  const script = await writeAsset(dir, 'page.js', await bundleClient(urls))
  const assets = [icon, style, script]
  const server = await bundleServer({
    ...urls,
    PAGE_SCRIPT: JSON.stringify(script.url),
    PAGE_ASSETS: JSON.stringify(assets),
  })
  await writeFile(join(dir, 'page/server.js'), server)
  await copyFile(join(PAGE, 'server.d.ts'), join(dir, 'page/server.d.ts'))
  await writeFile(join(dir, 'page/manifest.json'), `${JSON.stringify(assets, undefined, 2)}\n`)
}

function bundleClient(define: Record<string, string>): Promise<Uint8Array> {
  return bundle({
    entryPoints: [join(PAGE, 'entry-client.tsx')],
    platform: 'browser',
    target: 'es2022',
    minify: true,
    define: { ...COMMON.define, ...define },
  })
}

/** React stays outside: each runtime picks its own build of react-dom/server by export condition. */
function bundleServer(define: Record<string, string>): Promise<Uint8Array> {
  return bundle({
    entryPoints: [join(PAGE, 'entry-server.tsx')],
    platform: 'node',
    target: 'es2022',
    packages: 'external',
    define: { ...COMMON.define, ...define },
  })
}

async function bundle(options: BuildOptions): Promise<Uint8Array> {
  const { outputFiles = [] } = await build({ ...COMMON, ...options })
  const [file] = outputFiles
  if (file === undefined) throw new Error(`esbuild wrote nothing for ${options.entryPoints}.`)
  return file.contents
}

/** Writes a file under a name that depends on its content alone, with its compressed siblings. */
async function writeAsset(dir: string, name: string, content: Uint8Array): Promise<Asset> {
  const extension = extname(name)
  const contentType = CONTENT_TYPES[extension]
  if (contentType === undefined) throw new Error(`${name} has no content type in build.ts.`)
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  const hashed = `${basename(name, extension)}-${hash}${extension}`
  const path = join(dir, 'assets', hashed)
  const [br, gz] = await Promise.all([compressBrotli(content), compressGzip(content)])
  await Promise.all([writeFile(path, content), writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)])
  return { url: `/assets/${hashed}`, contentType, bytes: content.length }
}

function compressBrotli(content: Uint8Array): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_MAX_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  const params = { [BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY, [BROTLI_PARAM_SIZE_HINT]: content.length }
  return promisify(brotliCompress)(content, { params })
}

function compressGzip(content: Uint8Array): Promise<Buffer> {
  return promisify<Uint8Array, { level: number }, Buffer>(gzip)(content, {
    level: constants.Z_BEST_COMPRESSION,
  })
}

async function swap(staging: string): Promise<void> {
  const old = `${staging}-old`
  await rename(DIST, old).catch(ignoreMissing)
  await rename(staging, DIST)
  await rm(old, { recursive: true, force: true })
}

/** Keeps the directories themselves: `node --watch-path` watches those. */
async function overwrite(staging: string): Promise<void> {
  await cp(staging, DIST, { recursive: true })
  const [built, there] = await Promise.all([staging, DIST].map((dir) => readdir(join(dir, 'assets'))))
  const stale = there?.filter((name) => !built?.includes(name)) ?? []
  for (const name of stale) await rm(join(DIST, 'assets', name))
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

async function rebuildOnChange(): Promise<void> {
  await buildAll(overwrite)
  for await (const { filename } of watch(PAGE, { recursive: true })) {
    console.log(`${filename} changed.`)
    await buildAll(overwrite).catch((error: unknown) => console.error(error))
  }
}
