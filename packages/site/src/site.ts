import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import Eleventy, { HtmlBasePlugin, type Page } from '@11ty/eleventy'
import { addressOf, amendMarkdown, ROOT } from './documents.ts'

/** The site as Eleventy makes it: every Markdown file of the repository, and the five pages. */

const ASSETS = fileURLToPath(new URL('assets/', import.meta.url))
/** The colours, tables and charts of reports. */
const REPORT_STYLE = fileURLToPath(import.meta.resolve('@startgrid/bench/src/report/html/report.css'))

/** What no page is made of: what tests need, what a page includes, and what is not of the repository. */
const IGNORED = ['**/test/**', '**/fixtures/**', '**/dist/**', '**/.*/**', 'bench/results/**', '**/static/**']

interface SiteOptions {
  /** A directory, which is emptied. */
  output: string
  /** Path under which the site is published: `/` or `/startgrid/`. */
  base: string
  /** Address of the repository's files, such as `https://git.example/startgrid/blob/main`; without it, sources have no links. */
  repository: string | undefined
  runMode?: 'build' | 'serve'
}

/** Eleventy works in the directory of its process: that becomes the root of the repository. */
export function createSite({ output, base, repository, runMode = 'build' }: SiteOptions): Eleventy {
  process.chdir(ROOT)
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  writeFileSync(join(output, 'site.css'), [REPORT_STYLE, `${ASSETS}site.css`].map(read).join('\n'))
  return new Eleventy('.', relative(ROOT, output), {
    quietMode: true,
    pathPrefix: base,
    runMode,
    config(config) {
      config.setIncludesDirectory('packages/site/src/layouts')
      config.setDataDirectory('packages/site/src/layouts')
      config.setTemplateFormats(['md', '11ty.ts'])
      config.addExtension('11ty.ts', { key: '11ty.js' })
      config.addGlobalData('layout', 'page.11ty.ts')
      // Eleventy would read GitHub's `${{ … }}` in a document as Liquid. Its option against that works only in a configuration file.
      config.addPreprocessor('documents', 'md', (_, text) => `{% raw %}${text}{% endraw %}`)
      config.addGlobalData('eleventyComputed', {
        permalink: ({ page }: Page) => `${addressOf(page.inputPath.replace(/^\.\//, ''))}index.html`,
      })
      for (const glob of IGNORED) config.ignores.add(glob)
      config.addPassthroughCopy({
        'packages/site/src/assets/site.js': 'site.js',
        'docs/*.{png,svg}': 'images',
        'docs/results/*.json': 'data',
        'docs/studies/results': 'data/studies',
      })
      config.addPlugin(HtmlBasePlugin)
      config.amendLibrary('md', (library) => amendMarkdown(library, repository))
    },
  })
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
