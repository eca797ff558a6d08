import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '@startgrid/grid/apps.ts'
import { follow } from '../code/imports.ts'
import { listPageAssets, moveFiles, PAGE_ROOTS } from '../code/layout.ts'
import { findPackages } from '../code/packages.ts'
import { REQUIRE_NODE } from '../files/start.ts'
import type { Code, Setting } from '../project.ts'
import { renderNginxConf } from './nginx-conf.ts'

/** Files that only njs projects contain. They are copied unchanged, except for `selectPage` and the name of the role. */
const TEMPLATE = join(import.meta.dirname, 'template')
const SOURCES = ['bundle.ts', 'nginx.ts', 'start.ts', 'test/nginx.test.ts']

/**
 * The code of a standalone app inside NGINX: its handlers bundled for QuickJS, one configuration, and a command that runs it.
 * @param tracked includes `nginx/conf` and `docker`, beside the files that every app needs
 */
export function writeNjsCode(app: App, tracked: ReadonlyMap<string, string>): Code {
  const hasPage = app.role === 'ssr'
  const files = moveFiles(app, tracked)
  for (const path of SOURCES)
    files.set(path, selectPage(readTemplate(path), hasPage).replace('ROLE', app.role))
  const read = (path: string): string => {
    const text = tracked.get(path)
    if (text === undefined) throw new Error(`${path} is needed for an njs project, but git does not list it.`)
    return text
  }
  const tests = ['test/app.test.ts', `test/${app.role}.test.ts`, 'test/nginx.test.ts']
  const roots = [`src/entries/${app.role}.ts`, 'bundle.ts', 'start.ts', ...tests]
  const sources = follow(files, [...roots, ...(hasPage ? PAGE_ROOTS : [])])
  return {
    files: new Map([
      ...sources,
      ...(hasPage ? listPageAssets(files) : []),
      ['nginx.conf.template', renderNginxConf(readTemplate('nginx.conf.template'), app, read)],
    ]),
    ...findPackages(sources, false),
    scripts: writeScripts(),
    compilerOptions: hasPage ? { jsx: 'react-jsx', lib: ['es2024', 'dom', 'dom.iterable'] } : {},
    include: ['*.ts', 'shared', 'src', 'test'],
    environment: SETTINGS,
  }
}

function writeScripts(): Record<string, string> {
  const check = `node ${REQUIRE_NODE}`
  const watch = '--watch-path=src --watch-path=shared --watch-path=nginx.conf.template'
  return {
    prestart: check,
    start: 'node --env-file-if-exists=.env --import ./bundle.ts start.ts',
    predev: check,
    dev: `node --env-file-if-exists=.env ${watch} --import ./bundle.ts start.ts`,
    build: 'node --env-file-if-exists=.env bundle.ts',
    test: 'node --test "test/**/*.test.ts"',
    typecheck: 'tsc',
    lint: 'biome check',
  }
}

const SETTINGS: readonly Setting[] = [
  { name: 'HOST', default: '127.0.0.1', meaning: 'address or host name to listen on' },
  { name: 'PORT', default: '3000', meaning: 'port to listen on' },
]

function readTemplate(path: string): string {
  return readFileSync(join(TEMPLATE, path), 'utf8')
}

/** Removes the lines between `// <page>` and `// </page>` if there is no page. The marks are always removed. */
function selectPage(text: string, hasPage: boolean): string {
  return text.replaceAll(/^ *\/\/ <page>\n((?:.*\n)*?)^ *\/\/ <\/page>\n/gm, hasPage ? '$1' : '')
}
