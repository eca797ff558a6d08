import type { App } from '@startgrid/grid/apps.ts'

/**
 * The recipes of apps/FRAMEWORK/add-a-route.md for the README of a project, in Markdown, with headings of level 3.
 * @param tracked files of the repository by path
 */
export function readRecipes({ framework, role }: App, tracked: ReadonlyMap<string, string>): string {
  const path = `apps/${framework}/add-a-route.md`
  const text = tracked.get(path)
  if (text === undefined) throw new Error(`${path} is missing, or git does not list it.`)
  const [general = '', ...sections] = text.replace(/^# .*$/m, '').split(/^(?=## )/m)
  const kept = sections.filter((section) => role === 'ssr' || !section.includes('#shared/page/'))
  return [general, ...kept]
    .join('')
    .trim()
    .replaceAll(/^## /gm, '### ')
    .replaceAll(/\bhello(?=\.(?:ts|use)\b|, \.\.\.)/g, role)
    .replaceAll('conf/main.conf.template', 'nginx.conf.template')
}
