import { deepEqual, doesNotMatch, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { ASSETS, ASSETS_DIR } from '#shared/page/server.js'

/** What Vite makes of the page for production. */

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))
const NONCE = 'MDEyMzQ1Njc4OWFiY2RlZmdo'

test('script and stylesheet of the page are listed, and both sides are built for production', async () => {
  deepEqual(ASSETS.map((url) => extname(url)).sort(), ['.css', '.js'])
  const script = ASSETS.find((url) => url.endsWith('.js')) ?? ''
  const source = await readFile(new URL(basename(script), ASSETS_DIR), 'utf8')
  ok(source.includes('Minified React error #'))
  const server = await readFile(join(PACKAGE, 'dist/page/server.js'), 'utf8')
  for (const text of [source, server]) doesNotMatch(text, /process\.env|jsxDEV|csp-nonce|sourceMappingURL/)
  match(server, /from ["']react-dom\/server["']/)
})

/** What a person adds: a folder, with an image, a font and a small stylesheet, and a line in pages.ts. */
const ABOUT = {
  'page.tsx': `import type { DocumentProps } from '../pages.ts'
import photo from './photo.png'
import './about.css'

export default function About({ visitors, children }: DocumentProps<'about'>) {
  return (
    <html lang="en">
      <head><title>About</title></head>
      <body><img src={photo} alt="" /><p>{visitors}</p>{children}</body>
    </html>
  )
}
`,
  'about.css': `@font-face { font-family: Tea; src: url(./tea.woff2) }
`,
  'client.tsx': `import { hydrate } from '../hydrate.tsx'
import About from './page.tsx'

hydrate(About)
`,
  'photo.png': Buffer.from('89504e470d0a1a0a', 'hex'),
  'tea.woff2': Buffer.from('774f463200010000', 'hex'),
}

test('a second page is a folder: its image, font, stylesheet, script and data', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'startgrid-page-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  await cp(join(PACKAGE, 'src'), join(directory, 'src'), { recursive: true })
  await cp(join(PACKAGE, 'package.json'), join(directory, 'package.json'))
  await symlink(join(PACKAGE, 'node_modules'), join(directory, 'node_modules'))
  await mkdir(join(directory, 'src/page/about'))
  for (const [name, content] of Object.entries(ABOUT))
    await writeFile(join(directory, 'src/page/about', name), content)
  const vite = join(PACKAGE, 'node_modules/vite/bin/vite.js')
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, [vite, 'build', 'src/page'], { cwd: directory, env })
  const { renderPage } = await import(pathToFileURL(join(directory, 'dist/page/server.js')).href)
  const files = (await readdir(join(directory, 'dist/assets'))).filter((name) => !/\.(?:br|gz)$/.test(name))

  const html = await renderPage('about', { visitors: 7, slow: Promise.resolve(), nonce: NONCE })
  const url = (name: RegExp) => `/assets/${files.find((file) => name.test(file)) ?? 'missing'}`
  ok(html.includes(`<img src="${url(/photo/)}"`))
  ok(html.includes('<script id="state" type="application/json">{"visitors":7}</script>'))
  ok(html.includes(`src="${url(/about.*\.js$/)}" nonce="${NONCE}"`))
  ok(html.includes(`<link rel="stylesheet" href="${url(/about.*\.css$/)}"`))
  ok((await readFile(join(directory, 'dist', url(/about.*\.css$/)), 'utf8')).includes(url(/tea/)))
  ok(!(await renderPage('shop', { items: 1, requestId: 'r-1', nonce: NONCE })).includes('about'))
})
