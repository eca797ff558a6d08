import type { App } from '@startgrid/grid/apps.ts'
import { PRODUCTION, REQUIRE_NODE } from '../files/start.ts'
import { toJson } from '../manifest.ts'
import type { Code } from '../project.ts'
import { adaptServer, importBeside, launchAlone, leaveShedding } from './adapt.ts'
import { follow } from './imports.ts'
import { listPageAssets, moveFiles, PAGE_ROOTS } from './layout.ts'
import { findPackages } from './packages.ts'
import { listSettings } from './settings.ts'

/** The code of a Node or Bun app on its own. */
export function writeCode(app: App, tracked: ReadonlyMap<string, string>): Code {
  const hasPage = app.role === 'ssr'
  const isBun = app.runtime === 'bun'
  const development = `src/page/dev/${isBun ? 'bun' : 'node'}.ts`
  const roots = [
    'src/server.ts',
    'test/app.test.ts',
    `test/${app.role}.test.ts`,
    ...(hasPage ? [...PAGE_ROOTS, development] : []),
  ]
  const moved = moveFiles(app, tracked)
  const sources = follow(adapt(app, moved), roots)
  const files = new Map([
    ...sources,
    ...(hasPage ? [...listPageAssets(moved), ['src/page/tsconfig.json', PAGE_TYPES] as const] : []),
  ])
  return {
    files,
    ...findPackages(sources, isBun),
    scripts: writeScripts(isBun ? 'bun' : 'node', hasPage),
    compilerOptions: isBun ? { types: ['bun'] } : {},
    include: ['shared', 'src', 'test'],
    ...(hasPage && { exclude: ['src/page'] }),
    environment: listSettings(sources),
  }
}

/** Only the page has the types of the browser. Server code would get its `fetch` and `Response`, which differ from those of the runtime. */
const PAGE_TYPES = toJson({
  extends: '../../tsconfig.json',
  compilerOptions: { jsx: 'react-jsx', lib: ['es2024', 'dom', 'dom.iterable'] },
  include: ['.'],
  exclude: [],
})

/** Rewrites the code that exists only because there are several apps. */
function adapt({ role }: App, files: ReadonlyMap<string, string>) {
  const adapted = new Map(files)
  for (const [path, text] of files) {
    const needed = role === 'ssr' ? text : leaveShedding(text)
    if (path === 'src/server.ts') adapted.set(path, adaptServer(text, role))
    else if (path.startsWith('test/')) adapted.set(path, importBeside(path, needed))
    else adapted.set(path, launchAlone(needed))
  }
  return adapted
}

function writeScripts(runtime: 'node' | 'bun', hasPage: boolean): Record<string, string> {
  // In development, Vite replaces the build.
  const watch = hasPage ? '--watch --conditions=development' : '--watch'
  // Bun ignores a missing file, and needs no Node.
  const own = runtime === 'node' ? '--env-file-if-exists=.env' : '--env-file=.env'
  return {
    ...(runtime === 'node' ? { prestart: `node ${REQUIRE_NODE}` } : {}),
    start: `${runtime} --env-file=${PRODUCTION} ${own} src/server.ts`,
    ...(runtime === 'node' ? { predev: `node ${REQUIRE_NODE}` } : {}),
    dev: `${runtime} ${own} ${watch} src/server.ts`,
    ...(hasPage ? { build: 'vite build src/page' } : {}),
    // Bun's own limit of 5 s is too short for 100 pages on a busy machine.
    test: runtime === 'node' ? 'node --test "test/**/*.test.ts"' : 'bun test --timeout=60000',
    typecheck: hasPage ? 'tsc && tsc --project src/page' : 'tsc',
    lint: 'biome check',
  }
}
