import type { App } from '@startgrid/grid/apps.ts'

/**
 * The recipes of apps/FRAMEWORK/add-a-route.md for the README of a project, in Markdown, with headings of level 3. The last is that of a
 * second page, so what the page's README shows follows it.
 * @param tracked files of the repository by path
 */
export function readRecipes({ framework, role }: App, tracked: ReadonlyMap<string, string>): string {
  const read = (path: string): string => {
    const text = tracked.get(path)
    if (text === undefined) throw new Error(`${path} is missing, or git does not list it.`)
    return text
  }
  const [general = '', ...sections] = read(`apps/${framework}/add-a-route.md`)
    .replace(/^# .*$/m, '')
    .split(/^(?=## )/m)
  const kept = sections.filter((section) => role === 'ssr' || !section.includes('#shared/page/'))
  const pages = role === 'ssr' ? read('packages/shared/src/page/README.md') : ''
  return [general, ...kept, pages.replace(/^# .*\n/m, '').replaceAll(' title="', ' title="src/page/')]
    .join('')
    .trim()
    .replaceAll(/^## /gm, '### ')
    .replaceAll("'#shared/testing/", "'./suite/")
    .replaceAll("'#shared/page/", "'#page/")
    .replaceAll('`shared/page`', '`src/page`')
    .replaceAll(/\bhello(?=\.(?:ts|use)\b|, \.\.\.)/g, role)
    .replaceAll('conf/main.conf.template', 'nginx.conf.template')
}

/**
 * What the README of a framework says under "Particular to …", in Markdown. Points about this repository are left out, and those about pages
 * where there is none.
 * @param tracked files of the repository by path
 */
export function readParticular({ framework, role }: App, tracked: ReadonlyMap<string, string>): string {
  const text = tracked.get(`apps/${framework}/README.md`) ?? ''
  const [section = ''] = /^## Particular to .*\n(?:(?!## ).*\n)+/m.exec(text) ?? []
  const points = section.split(/^(?=- |\n)/m).filter((point) => !/\]\(\.\.|\bapps\b|\bbench/.test(point))
  const own = points.filter(
    (point) => role === 'ssr' || !/\b(?:page|client file|asset|shed)|\/stream/.test(point),
  )
  return own
    .join('')
    .trim()
    .replace(/^Three places differ/m, 'It differs')
}
