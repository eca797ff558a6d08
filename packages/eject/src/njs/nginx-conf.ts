import type { App } from '@startgrid/grid/apps.ts'
import { fill } from '@startgrid/nginx/render.ts'

/**
 * The configuration of a service as one file, made from the files that the apps of this repository include.
 * @param template `nginx.conf.template` of this package
 * @param read reads a file of the repository by its path
 */
export function renderNginxConf(
  template: string,
  { framework, role }: App,
  read: (path: string) => string,
): string {
  const whole = fill(template, {
    PAGE_MAPS: role === 'ssr' ? 'include startgrid/http/assets.conf;\n\n    include shed.conf.template;' : '',
    ASSETS: role === 'ssr' ? 'include assets.conf.template;' : '',
    ...LATER,
  })
  const included = include(whole, framework, (path) =>
    fill(read(path), {
      APP: '{{name}}',
      ASSETS_DIR: `${LATER.ROOT}/dist/assets`,
      MAX_QUEUE_WAIT_MS: '250',
      PROXIES: '# 10.0.0.0/8 1;',
      ...LATER,
    }),
  )
  return `${included.replaceAll(/\n(?:[ ]*\n){2,}/g, '\n\n').trimEnd()}\n`
}

/** Placeholders that stay until the service is built; see bundle.ts. */
const LATER = { HOST: placeholder('HOST'), PORT: placeholder('PORT'), ROOT: placeholder('ROOT') }

function placeholder(name: string): string {
  return `\${${name}}`
}

/** Replaces include lines with the content of the files, indented like the line. */
function include(text: string, framework: string, read: (path: string) => string): string {
  return text.replaceAll(/^( *)include (\S+);$/gm, (_line, indent: string, name: string) => {
    const path = name.startsWith('startgrid/')
      ? name.replace('startgrid/', 'nginx/conf/')
      : `apps/${framework}/conf/${name}`
    return include(read(path), framework, read)
      .trimEnd()
      .replaceAll(/^(?=.)/gm, indent)
  })
}
